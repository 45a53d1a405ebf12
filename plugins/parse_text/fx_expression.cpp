#include "fx_body.hpp"
#include "fx_paths.hpp"

#include <array>

namespace adpipe::parse {

namespace {

struct Operator {
    std::string_view mark;
    std::string_view target;
};
constexpr std::array<Operator, 19> binary_operators{{
    {"+", "operator.add"}, {"-", "operator.sub"},     {"*", "operator.mul"},     {"/", "operator.truediv"}, {"//", "operator.floordiv"},
    {"%", "operator.mod"}, {"**", "operator.pow"},    {"@", "operator.matmul"},  {"&", "operator.and_"},    {"|", "operator.or_"},
    {"^", "operator.xor"}, {"<<", "operator.lshift"}, {">>", "operator.rshift"}, {"==", "operator.eq"},     {"!=", "operator.ne"},
    {"<", "operator.lt"},  {"<=", "operator.le"},     {">", "operator.gt"},      {">=", "operator.ge"},
}};

constexpr std::string_view operator_characters = "+-*/%@&|^<>=!~";

std::string_view binary_target(std::string_view mark) {
    for (const Operator& op : binary_operators) {
        if (op.mark == mark) return op.target;
    }
    return {};
}

/// "-x" and "~x"; a sign before a number is part of the number.
std::string_view unary_target(std::string_view text) {
    if (text.size() < 2 || (!is_class(text[1], letter_character) && text[1] != '(')) return {};
    return text[0] == '-' ? "operator.neg" : text[0] == '+' ? "operator.pos" : text[0] == '~' ? "operator.invert" : "";
}

/// How long the operand at the front of `text` is: up to a blank outside brackets and quotes.
std::size_t operand_size(std::string_view text) {
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end; ++at) {
        if (*at == ' ') return static_cast<std::size_t>(at - text.data());
        if (*at == '(' || *at == '[' || *at == '{') {
            const char* const closed = find_closing(at, end);
            if (closed == nullptr) return text.size();
            at = closed;
        }
    }
    return text.size();
}

bool is_builtin_type(std::string_view word) {
    return word == "int" || word == "float" || word == "bool" || word == "str" || word == "complex";
}

}  // namespace

VertexId FxBody::find(std::string_view name) const {
    const VertexId vertex = builder_.find(name);
    if (vertex != no_vertex || aliases_.empty()) return vertex;
    const auto alias = aliases_.find(name);
    return alias == aliases_.end() ? no_vertex : alias->second;
}

VertexId FxBody::resolve(const Word& word, bool is_opaque) {
    if (is_literal_word(word) || is_builtin_type(word.text)) return no_vertex;
    const VertexId vertex = find(word.text);
    const bool is_path = (word.classes & dot_character) != 0;
    if (vertex != no_vertex || is_path || is_opaque || is_size_symbol(word.text)) return vertex;
    fail("ADP-FX-004", word.text.data(), "no line before this one defines " + std::string{word.text});
    return no_vertex;
}

/// Fills in what the right-hand side says: kind, target, arguments, for a weight its path.
bool FxBody::expression(std::string_view text, Vertex& vertex) {
    vertex.kind = VertexKind::op;
    const Word word = read_word(text.data(), text.data() + text.size());
    const char after = word.text.size() < text.size() ? text[word.text.size()] : '\0';
    std::string path;
    std::size_t end = 0;
    if (read_self_path(text, path, end)) return fetched(text, path, end, vertex);
    if (word.is_identifier() && after == '(') return call(text, word, vertex);
    if (word.is_identifier() && after == '[') return item(text, word, vertex);
    if (word.is_identifier() && after == '\0' && attribute(word, vertex)) return true;
    return operation(text, vertex);
}

/// A weight, "self.model.norm.weight", or a call of a module, `getattr(self.layers, "0")(x)`.
bool FxBody::fetched(std::string_view text, const std::string& path, std::size_t end, Vertex& vertex) {
    if (end < text.size()) {
        if (text[end] != '(' || text.back() != ')') return operation(text, vertex);
        vertex.target = text.substr(0, end);
        return arguments(text.substr(end + 1, text.size() - end - 2), 0);
    }
    for (const ModuleText& module : modules_) {
        if (module.name != path && !ends_with(module.name, "." + path)) continue;
        vertex.target = text;  // a graph to be called by a higher-order op
        return true;
    }
    vertex.kind = VertexKind::weight;
    vertex.module_path = builder_.intern(path);
    return true;
}

bool FxBody::call(std::string_view text, const Word& callee, Vertex& vertex) {
    const std::size_t open = callee.text.size();
    const char* const end = text.data() + text.size();
    if (find_closing(text.data() + open, end) != end - 1) {
        return fail("ADP-FX-001", text.data(), "this call is not understood: \"" + std::string{text_at(text, text.data())} + "\"");
    }
    std::uint32_t position = 0;
    vertex.target = callee.text;
    const std::size_t dot = callee.text.find('.');
    const VertexId owner = dot == std::string_view::npos ? no_vertex : find(callee.text.substr(0, dot));
    if (owner != no_vertex) {  // a method: x.view(2, 3)
        vertex.target = callee.text.substr(dot + 1);
        arguments_.uses.push_back({owner, position++});
    }
    return arguments(text.substr(open + 1, text.size() - open - 2), position);
}

bool FxBody::attribute(const Word& word, Vertex& vertex) {
    const std::size_t dot = word.text.find('.');
    const VertexId owner = dot == std::string_view::npos ? no_vertex : find(word.text.substr(0, dot));
    if (owner == no_vertex) return false;
    vertex.target = "getattr";
    arguments_.uses.push_back({owner, 0});
    arguments_.texts.push_back({word.text.substr(dot + 1), 1});
    return true;
}

bool FxBody::item(std::string_view text, const Word& owner, Vertex& vertex) {
    vertex.target = "getitem";
    if (!argument(owner.text, 0)) return false;
    std::size_t end = 0;
    const std::string_view index = text.substr(owner.text.size());
    if (!list(index, 1, end)) return false;
    if (end == index.size()) {
        // "[0]" is the index 0, not a list
        if (!arguments_.texts.empty() && arguments_.texts.back().text == index) {
            arguments_.texts.back().text = index.substr(1, index.size() - 2);
        }
        return true;
    }
    return fail("ADP-FX-001", index.data() + end, "nothing is wanted after an index");
}

/// "a + 2", "2 * s44", "-a", "a // b".
bool FxBody::operation(std::string_view text, Vertex& vertex) {
    std::string_view target;
    std::uint32_t position = 0;
    for (std::string_view rest = text; !rest.empty(); rest = trim(rest)) {
        const std::size_t mark = std::min(rest.find_first_not_of(operator_characters), rest.size());
        const std::string_view unary = mark == 1 ? unary_target(rest) : std::string_view{};
        const bool is_operator = mark > 0 && (mark == rest.size() || rest[mark] == ' ');
        if (is_operator || !unary.empty()) {
            const std::string_view found = is_operator ? binary_target(rest.substr(0, mark)) : unary;
            if (target.empty()) target = found;
            if (found.empty()) break;
            rest.remove_prefix(mark);
            continue;
        }
        const std::size_t size = operand_size(rest);
        if (!argument(rest.substr(0, size), position++)) return false;
        rest.remove_prefix(size);
    }
    vertex.target = target;
    if (!target.empty() && position > 0) return true;
    return fail("ADP-FX-001", text.data(), "this expression is not understood: \"" + std::string{text_at(text, text.data())} + "\"");
}

/// Reads what stands between the brackets of a call.
bool FxBody::arguments(std::string_view text, std::uint32_t position) {
    const char* const end = text.data() + text.size();
    const char* begin = text.data();
    for (const char* at = begin; at <= end; ++at) {
        if (at != end && (*at == '(' || *at == '[' || *at == '{')) {
            at = find_closing(at, end);
        } else if (at != end && (*at == '"' || *at == '\'')) {
            at = skip_quoted(at, end);
            if (at != nullptr) --at;
        } else if (at == end || *at == ',') {
            std::string_view one = trim({begin, static_cast<std::size_t>(at - begin)});
            while (!one.empty() && one.front() == '\n') one = trim(one.substr(1));
            if (!one.empty() && !argument(one, position++)) return false;
            begin = at + 1;
        }
        if (at == nullptr) return fail("ADP-FX-002", begin, "a bracket or quote in these arguments is never closed");
    }
    return true;
}

bool FxBody::argument(std::string_view text, std::uint32_t position) {
    const std::size_t errors = findings_.errors();
    const std::size_t uses = arguments_.uses.size();
    const std::size_t texts = arguments_.texts.size();
    const char* const end = text.data() + text.size();
    std::string_view value = text;
    Word word = read_word(value.data(), end);
    if (word.is_identifier() && starts_with(text.substr(word.text.size()), " = ")) {  // a keyword
        value = trim(text.substr(word.text.size() + 3));
        word = read_word(value.data(), end);
    }
    const bool is_bracket = !value.empty() && (value.front() == '(' || value.front() == '[' || value.front() == '{');
    const bool is_object = !word.text.empty() && word.text.size() < value.size() && value[word.text.size()] == '(';
    if (is_bracket || is_object) {
        std::size_t size = 0;
        if (!list(value, position, size)) return false;
        if (size != value.size()) return fail("ADP-FX-001", value.data() + size, "a comma is wanted here");
    } else if (word.text.size() == value.size() && !word.text.empty()) {
        const VertexId vertex = resolve(word, false);
        if (vertex != no_vertex) arguments_.uses.push_back({vertex, position});
    } else if (!value.empty() && value.front() != '"' && value.front() != '\'' && value.front() != '<') {
        find_names(value, position);
    }
    // A literal is shown with its keyword.
    if (arguments_.uses.size() == uses) {
        arguments_.texts.resize(texts);
        arguments_.texts.push_back({text, position});
    }
    return findings_.errors() == errors;
}

/// torch prints no expression inside an argument; if it ever does, the names in it are still uses.
void FxBody::find_names(std::string_view text, std::uint32_t position) {
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
        const Word word = read_word(at, end);
        const VertexId vertex = word.is_identifier() ? find(word.text) : no_vertex;
        if (vertex != no_vertex) arguments_.uses.push_back({vertex, position});
        at += word.text.empty() ? 1 : word.text.size();
    }
}

bool FxBody::list(std::string_view text, std::uint32_t position, std::size_t& end) {
    const char* const after = list_reader_.read(text.data(), text.data() + text.size(), position);
    if (after == nullptr) return fail("ADP-FX-002", fault_.at, fault_.message);
    end = static_cast<std::size_t>(after - text.data());
    return true;
}

}  // namespace adpipe::parse
