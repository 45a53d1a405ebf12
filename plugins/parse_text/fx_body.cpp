#include "fx_body.hpp"

#include "fx_paths.hpp"

#include <array>

namespace adpipe::parse {

namespace {

std::string quoted(std::string_view text) { return "\"" + std::string{text_at(text, text.data())} + "\""; }

std::string_view read_name(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_class(text[end], letter_character | digit_character)) ++end;
    return text.substr(0, end);
}

/// Takes `"…"` or '…' off the front of `rest`; else what stands before " = ".
std::string_view take_annotation(std::string_view& rest) {
    const bool has_quotes = !rest.empty() && (rest.front() == '"' || rest.front() == '\'');
    const std::size_t closed = has_quotes ? rest.find(rest.front(), 1) : std::string_view::npos;
    if (closed != std::string_view::npos) {
        const std::string_view annotation = rest.substr(1, closed - 1);
        rest = trim(rest.substr(closed + 1));
        return annotation;
    }
    const std::size_t end = rest.find(" = ");
    const std::string_view annotation = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : trim(rest.substr(end));
    return trim(annotation);
}

struct InPlaceOperator {
    std::string_view mark;
    std::string_view target;
};
constexpr std::array<InPlaceOperator, 13> in_place_operators{{
    {" += ", "operator.iadd"},
    {" -= ", "operator.isub"},
    {" *= ", "operator.imul"},
    {" /= ", "operator.itruediv"},
    {" //= ", "operator.ifloordiv"},
    {" %= ", "operator.imod"},
    {" **= ", "operator.ipow"},
    {" @= ", "operator.imatmul"},
    {" &= ", "operator.iand"},
    {" |= ", "operator.ior"},
    {" ^= ", "operator.ixor"},
    {" <<= ", "operator.ilshift"},
    {" >>= ", "operator.irshift"},
}};

}  // namespace

FxBody::FxBody(GraphBuilder& builder, Findings& findings, const std::vector<ModuleText>& modules, const WeightPaths& weights)
    : builder_(builder),
      findings_(findings),
      modules_(modules),
      weights_(weights),
      types_(builder),
      list_reader_(arguments_, fault_, Resolver{this}) {}

void FxBody::read(const ModuleText& module) {
    module_ = module.name;
    module_path_ = {};
    output_ = no_vertex;
    in_place_ = {};
    aliases_.clear();
    parameters_.clear();
    counted_ = module.header.data();
    number_ = findings_.line_of(counted_);
    builder_.begin_module(module.name, number_);
    first_vertex_ = builder_.size();

    FxStatements statements(module.body.data(), module.body.data() + module.body.size());
    bool has_forward = false;
    for (FxStatements::Statement next; output_ == no_vertex && statements.next(next);) {
        count_lines_to(next.text.data());
        if (next.unclosed != nullptr) {
            // Where one ends the other would begin: what follows cannot be told apart.
            fail("ADP-FX-002", next.unclosed, "this bracket or quote is never closed; the text is cut off");
            return;
        }
        if (next.is_comment) comment(next.text);
        else if (!has_forward) has_forward = read_forward(next.text);
        else statement(next.text);
    }
    FxStatements::Statement rest;
    while (output_ != no_vertex && statements.next(rest)) {
        if (rest.is_comment) continue;
        findings_.note("ADP-FX-009", "text after the return of module " + std::string{module_} + " is not read", rest.text.data());
        break;
    }
    end_module(module);
}

void FxBody::count_lines_to(const char* at) {
    number_ += static_cast<std::uint32_t>(count_lines({counted_, static_cast<std::size_t>(at - counted_)}));
    counted_ = at;
}

bool FxBody::fail(const char* code, const char* at, std::string message) {
    findings_.error(code, std::move(message), at);
    return false;
}

void FxBody::comment(std::string_view text) {
    // What torch prints once holds for all statements up to the next comment.
    std::string_view path;
    module_path_ = read_module_stack(text, path) ? path : std::string_view{};
}

bool FxBody::read_forward(std::string_view text) {
    const std::size_t open = text.find('(');
    const bool is_forward = starts_with(text, "def ") && open != std::string_view::npos;
    const char* const end = text.data() + text.size();
    const char* const closed = is_forward ? find_closing(text.data() + open, end) : nullptr;
    if (closed == nullptr || text.back() != ':') {
        return fail("ADP-FX-001", text.data(), "\"def forward(self, …):\" is wanted here: " + quoted(text));
    }
    read_parameters(text.substr(open + 1, static_cast<std::size_t>(closed - text.data()) - open - 1));
    return true;
}

void FxBody::read_parameters(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : ',';
        if (c == '"' || c == '\'') {
            at = std::min(text.find(c, at + 1), text.size());
        } else if (c == '(' || c == '[' || c == '{') {
            const char* const closed = find_closing(text.data() + at, text.data() + text.size());
            if (closed != nullptr) at = static_cast<std::size_t>(closed - text.data());
        } else if (c == '#') {  // beside the argument that ended before it
            const std::size_t end = std::min(text.find('\n', at), text.size());
            if (!parameters_.empty()) parameters_.back().path = commented_weight_path(text.substr(at, end - at));
            begin = at = end;
        } else if (c == ',') {
            add_parameter(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
}

void FxBody::add_parameter(std::string_view text) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '\r' || text.front() == ' ')) text.remove_prefix(1);
    const std::string_view name = read_name(text);
    if (name.empty() || name == "self") return;  // "*args", "/"
    std::string_view rest = trim(text.substr(name.size()));
    std::string_view annotation;
    if (starts_with(rest, ":")) {
        rest = trim(rest.substr(1));
        annotation = take_annotation(rest);
    }
    parameters_.push_back({name, annotation, {}});
}

/// `name: "type"` alone: the type of an argument.
void FxBody::declaration(std::string_view name, std::string_view annotation) {
    for (Parameter& parameter : parameters_) {
        if (parameter.name == name) {
            parameter.annotation = annotation;
            return;
        }
    }
    parameters_.push_back({name, annotation, {}});
}

/// "a, b, = fx_pytree.tree_flatten_spec((…), self._in_spec)": the real arguments are the names on the left.
void FxBody::unpacking(std::string_view names) {
    std::vector<Parameter> flat;
    while (!names.empty()) {
        const std::size_t comma = names.find(',');
        const std::string_view name = trim(names.substr(0, comma));
        names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
        if (name.empty()) continue;
        Parameter parameter{name, {}, {}};
        for (const Parameter& known : parameters_) {
            if (known.name == name) parameter = known;
        }
        flat.push_back(parameter);
    }
    parameters_ = std::move(flat);
}

void FxBody::define_parameters() {
    std::vector<Parameter> parameters;
    parameters.swap(parameters_);
    arguments_.clear();
    for (const Parameter& parameter : parameters) {
        const FxType type = parameter.annotation.empty() ? FxType{} : types_.read(parameter.annotation);
        Vertex vertex;
        vertex.name = parameter.name;
        vertex.shape = type.shape;
        vertex.dtype = type.dtype;
        vertex.module_path = parameter.path;
        const auto weight = weights_.find(parameter.name);
        if (weight != weights_.end()) vertex.module_path = weight->second;
        else if (parameter.path.empty()) vertex.module_path = builder_.intern(lifted_weight_path(parameter.name));
        vertex.kind = vertex.module_path.empty() ? VertexKind::placeholder : VertexKind::weight;
        define(vertex);
    }
}

void FxBody::statement(std::string_view text) {
    if (text == "return" || starts_with(text, "return ")) return output(trim(text.substr(6)));
    const std::string_view name = read_name(text);
    std::string_view rest = text.substr(name.size());
    const bool is_name = !name.empty() && is_class(name.front(), letter_character);
    if (is_name && starts_with(rest, ": ")) {
        rest = trim(rest.substr(2));
        const std::string_view annotation = take_annotation(rest);
        if (rest.empty()) return declaration(name, annotation);
        if (starts_with(rest, "= ")) return assignment(name, annotation, trim(rest.substr(2)));
    } else if (is_name && starts_with(rest, " = ")) {
        if (deletion(text)) return;
        return assignment(name, {}, trim(rest.substr(3)));
    } else if (is_name && starts_with(rest, ",") && text.find("tree_flatten_spec(") != std::string_view::npos) {
        return unpacking(text.substr(0, text.find('=')));
    } else if (is_name && starts_with(rest, "[")) {
        const char* const closed = find_closing(rest.data(), rest.data() + rest.size());
        const std::size_t size = closed == nullptr ? 0 : static_cast<std::size_t>(closed - rest.data()) + 1;
        if (size != 0 && starts_with(rest.substr(size), " = ")) {
            return begin_in_place(name, "operator.setitem", rest.substr(0, size), trim(rest.substr(size + 3)));
        }
    }
    for (const InPlaceOperator& op : in_place_operators) {
        if (is_name && starts_with(rest, op.mark)) return begin_in_place(name, op.target, {}, rest.substr(op.mark.size()));
    }
    fail("ADP-FX-001", text.data(), "this statement is not understood: " + quoted(text));
}

/// "a = b = None" frees values after their last use; it is no op.
bool FxBody::deletion(std::string_view text) {
    std::vector<std::string_view> names;
    while (text != "None") {
        const std::string_view name = read_name(text);
        if (name.empty() || !starts_with(text.substr(name.size()), " = ")) return false;
        names.push_back(name);
        text = trim(text.substr(name.size() + 3));
    }
    if (!parameters_.empty()) define_parameters();
    for (const std::string_view name : names) {
        if (find(name) == no_vertex) fail("ADP-FX-004", name.data(), "no line before this one defines " + std::string{name});
    }
    return true;
}

void FxBody::assignment(std::string_view name, std::string_view annotation, std::string_view right) {
    if (!parameters_.empty()) define_parameters();
    const FxType type = annotation.empty() ? FxType{} : types_.read(annotation);
    if (!in_place_.operand.empty() && right == in_place_.operand) return finish_in_place(name, type);
    if (!right.empty() && read_name(right) == right && is_class(right.front(), letter_character)) {
        const VertexId vertex = find(right);
        if (vertex == no_vertex) fail("ADP-FX-004", right.data(), "no line before this one defines " + std::string{right});
        aliases_[name] = vertex;
        return;
    }
    Vertex vertex;
    vertex.name = name;
    vertex.shape = type.shape;
    vertex.dtype = type.dtype;
    vertex.module_path = module_path_;
    arguments_.clear();
    // A statement with a fault still defines its name: those that use it are not at fault.
    if (!expression(right, vertex)) arguments_.clear();
    define(vertex);
}

void FxBody::begin_in_place(std::string_view operand, std::string_view target, std::string_view item, std::string_view value) {
    if (!parameters_.empty()) define_parameters();
    arguments_.clear();
    if (!argument(operand, 0)) return;
    if (!item.empty() && !argument(item, 1)) return;
    if (!argument(value, item.empty() ? 1 : 2)) return;
    in_place_ = {operand, target, arguments_};
}

void FxBody::finish_in_place(std::string_view name, FxType type) {
    Vertex vertex;
    vertex.name = name;
    vertex.kind = VertexKind::op;
    vertex.target = in_place_.target;
    vertex.shape = type.shape;
    vertex.dtype = type.dtype;
    vertex.module_path = module_path_;
    arguments_ = in_place_.arguments;
    in_place_ = {};
    define(vertex);
}

void FxBody::output(std::string_view right) {
    if (!parameters_.empty()) define_parameters();
    arguments_.clear();
    const Word callee = read_word(right.data(), right.data() + right.size());
    std::size_t size = callee.text.size();
    if (size != 0 && size < right.size() && right[size] == '(') {  // pytree.tree_unflatten((…), self._out_spec)
        right = trim(right.substr(size + 1));
    }
    const bool is_list = !right.empty() && (right.front() == '(' || right.front() == '[');
    const char* const closed = is_list ? find_closing(right.data(), right.data() + right.size()) : nullptr;
    if (closed != nullptr) {
        size = static_cast<std::size_t>(closed - right.data());
        if (!arguments(right.substr(1, size - 1), 0)) return;
    } else if (!right.empty() && !argument(right, 0)) {
        return;
    }
    Vertex vertex;
    vertex.name = "output";
    vertex.kind = VertexKind::output;
    for (int n = 1; find(vertex.name) != no_vertex; ++n) vertex.name = builder_.intern("output_" + std::to_string(n));
    vertex.line = number_;
    output_ = builder_.add(vertex).vertex;
    arguments_.attach(builder_, output_);
}

void FxBody::define(Vertex vertex) {
    vertex.line = number_;
    const auto [id, is_new] = builder_.add(vertex);
    if (is_new) return arguments_.attach(builder_, id);
    fail("ADP-FX-003", vertex.name.data(),
         std::string{vertex.name} + " is defined twice; first in line " + std::to_string(builder_.vertex(id).line));
}

void FxBody::end_module(const ModuleText& module) {
    if (findings_.has_errors()) return;
    if (output_ == no_vertex) {
        fail("ADP-FX-005", module.header.data(), "module " + std::string{module_} + " has no return: the text is cut off");
    } else if (builder_.size() == first_vertex_ + 1) {
        findings_.warning("ADP-FX-006", "module " + std::string{module_} + " holds no op and takes no argument", module.header.data());
    }
}

}  // namespace adpipe::parse
