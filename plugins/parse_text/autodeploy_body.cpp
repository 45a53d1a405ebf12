#include "autodeploy_body.hpp"

#include "autodeploy_modules.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_set>

namespace adpipe::parse {

namespace {

constexpr std::string_view type_mark = " : ";

bool at_type_mark(const char* at, const char* end) { return end - at >= 3 && at[0] == ' ' && at[1] == ':' && at[2] == ' '; }

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

/// Where the shape or dtype at `at` ends: at " : ", or outside brackets at ", " or a closing bracket, or at the end of the line.
/// Dimensions may hold brackets, commas and blanks: "s44x4xMin(16, s70)x16".
const char* skip_type_part(const char* at, const char* end) {
    int depth = 0;
    for (; at != end; ++at) {
        switch (*at) {
            case '(': ++depth; break;
            case ')':
                if (--depth < 0) return at;
                break;
            case ',':
                if (depth == 0) return at;
                break;
            case ' ':
                if (depth == 0 && at_type_mark(at, end)) return at;
                break;
            default: break;
        }
    }
    return at;
}

/// False for a text that only begins with a bracket, such as the einops pattern "(b h) n -> b h n".
bool is_whole_argument(const char* at, const char* end) {
    int depth = 0;
    for (; at != end; ++at) {
        if (*at == '(') ++depth;
        if (*at == ')' && --depth == 0) return at + 1 == end || at[1] == ',' || at[1] == ')';
    }
    return true;
}

/// What the text prints for a value that is no tensor. A weight is one.
bool is_no_tensor(std::string_view dtype) {
    static constexpr std::array<std::string_view, 12> others{"SymInt", "SymFloat",       "SymBool", "int",  "float",    "bool",
                                                             "list",   "immutable_list", "tuple",   "dict", "NoneType", "str"};
    return !starts_with(dtype, "torch.") && std::find(others.begin(), others.end(), dtype) != others.end();
}

/// A weight's sizes are numbers.
bool has_symbols(std::string_view shape) {
    if (shape == "scalar") return false;
    for (const char c : shape) {
        if (c != 'x' && is_class(c, letter_character)) return true;
    }
    return false;
}

/// "aten.add.Tensor" → "add", "auto_deploy.triton_rms_norm.default" → "triton_rms_norm", "getitem" → "getitem".
std::string_view short_op_name(std::string_view op) {
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos) return op;
    const std::string_view rest = op.substr(first + 1);
    return rest.substr(0, rest.find('.'));
}

bool is_dtype(std::string_view text) {
    if (text.empty()) return false;
    return text.front() == '(' ? text.back() == ')' : text.find(' ') == std::string_view::npos;
}

}  // namespace

AutodeployBody::AutodeployBody(GraphBuilder& builder, Findings& findings)
    : builder_(builder), findings_(findings), list_reader_(arguments_, fault_, Resolver{this}) {}

void AutodeployBody::read(const ModuleText& module) {
    module_ = module.name;
    output_ = no_vertex;
    number_ = findings_.line_of(module.header.data());
    builder_.begin_module(module.name, number_);
    first_vertex_ = builder_.size();
    doubtful_.clear();
    const char* const end = module.body.data() + module.body.size();
    // The body begins with the rest of the header's line.
    for (const char* at = module.body.data(); at < end; ++number_) {
        const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
        const char* const line_end = newline == nullptr ? end : static_cast<const char*>(newline);
        line(at, line_end != at && line_end[-1] == '\r' ? line_end - 1 : line_end);
        at = line_end + 1;
    }
    end_module(module);
}

void AutodeployBody::line(const char* begin, const char* end) {
    if (begin == end) return;
    begin_ = at_ = begin;
    end_ = end;
    const std::string_view text = between(begin, end);
    if (*begin == '=' && is_separator(text)) return;
    if (*begin == '#') return comment(text);
    if (trim(text).empty()) return;
    if (output_ != no_vertex) {
        fail("ADP-AD-009", begin, "a line after the output line of module " + std::string{module_});
    } else if (*begin == '%') {
        definition();
    } else if (text == "output" || starts_with(text, "output ")) {
        output();
    } else {
        fail("ADP-AD-001", begin, "this line is not understood: \"" + std::string{text_at(text, begin)} + "\"");
    }
}

void AutodeployBody::comment(std::string_view text) {
    if (comments_++ == 0) {
        findings_.note("ADP-AD-011", "comment lines inside a module are not read; this is the first", text.data());
    }
}

bool AutodeployBody::fail(const char* code, const char* at, std::string message) {
    findings_.error(code, std::move(message), at);
    return false;
}

void AutodeployBody::definition() {
    const std::size_t errors = findings_.errors();
    const Word name = read_word(begin_ + 1, end_);
    at_ = begin_ + 1 + name.text.size();
    const std::string_view rest = between(at_, end_);
    if (name.text.empty()) {
        fail("ADP-AD-001", begin_ + 1, "a name is wanted after '%'");
    } else if (starts_with(rest, " = ")) {
        at_ += 3;
        call(name.text);
    } else if (starts_with(rest, type_mark)) {
        placeholder(name.text);
    } else {
        fail("ADP-AD-001", at_, "\" = \" or \" : \" is wanted after the name %" + std::string{name.text});
    }
    // A line with a fault still defines its name: the lines that use it are not at fault.
    if (findings_.errors() != errors && !name.text.empty()) remember(name.text);
}

void AutodeployBody::remember(std::string_view name) {
    Vertex vertex;
    vertex.name = name;
    vertex.line = number_;
    builder_.add(vertex);
}

void AutodeployBody::placeholder(std::string_view name) {
    arguments_.clear();
    Vertex vertex;
    vertex.name = name;
    vertex.kind = VertexKind::placeholder;
    if (result_type(vertex.shape, vertex.dtype)) define(vertex, begin_ + 1);
}

void AutodeployBody::call(std::string_view name) {
    arguments_.clear();
    Vertex vertex;
    vertex.name = name;
    vertex.kind = VertexKind::op;
    if (!call_target(vertex.target) || !call_arguments(')')) return;
    if (at_ != end_ && *at_ == '(') {  // "functools.partial(<function f at 0x…>, n=1)(%x : …)": what came was the target
        vertex.target = between(vertex.target.data(), at_);
        ++at_;
        arguments_.clear();
        if (!call_arguments(')')) return;
    }
    if (result_type(vertex.shape, vertex.dtype)) define(vertex, begin_ + 1);
}

void AutodeployBody::output() {
    arguments_.clear();
    at_ = begin_ + std::strlen("output");
    if (at_ != end_) ++at_;
    const VertexId known = builder_.size();
    if (at_ != end_ && !call_arguments('\0')) return;
    if (builder_.size() != known) {
        fail("ADP-AD-006", begin_, "the output line names %" + std::string{builder_.vertex(known).name} + ", which no line defines");
        return;
    }
    Vertex vertex;
    vertex.name = "output";
    vertex.kind = VertexKind::output;
    vertex.line = number_;
    for (int n = 1; builder_.find(vertex.name) != no_vertex; ++n) vertex.name = builder_.intern("output_" + std::to_string(n));
    output_ = builder_.add(vertex).vertex;
    arguments_.attach(builder_, output_);
}

void AutodeployBody::define(const Vertex& vertex, const char* at) {
    Vertex added = vertex;
    added.line = number_;
    const auto [id, is_new] = builder_.add(added);
    if (is_new) return arguments_.attach(builder_, id);
    const Vertex& other = builder_.vertex(id);
    const std::string line = std::to_string(other.line);
    if (other.kind == VertexKind::weight) {
        fail("ADP-AD-005", at, "%" + std::string{vertex.name} + " is used in line " + line + ", before this line defines it");
    } else {
        fail("ADP-AD-004", at, "%" + std::string{vertex.name} + " is defined twice; first in line " + line);
    }
}

bool AutodeployBody::call_target(std::string_view& target) {
    const char* const begin = at_;
    if (at_ != end_ && *at_ == '<') {
        at_ = skip_angle_brackets(at_, end_);
        if (at_ == nullptr) return fail("ADP-AD-002", begin, "this '<' is never closed");
    } else {
        at_ += read_word(at_, end_).text.size();
    }
    target = between(begin, at_);
    if (target.empty() || at_ == end_ || *at_ != '(') {
        return fail("ADP-AD-001", at_, "a call, target(arguments), is wanted after \" = \"");
    }
    ++at_;
    return true;
}

/// Reads up to and with `closing`; up to the end of the line if that is '\0'.
bool AutodeployBody::call_arguments(char closing) {
    const char* const begin = at_;
    if (at_ != end_ && *at_ == closing) {
        ++at_;
        return true;
    }
    for (std::uint32_t position = 0;; ++position) {
        if (!argument(position)) return false;
        if (at_ == end_) {
            if (closing == '\0') return true;
            return fail("ADP-AD-002", begin - 1, "this argument list is never closed; the line is cut off");
        }
        if (*at_ == closing) {
            ++at_;
            return true;
        }
        if (*at_ != ',') {
            return fail("ADP-AD-002", at_,
                        "a comma or the end of the arguments is wanted here: \"" + std::string{text_at(between(begin_, end_), at_)} + "\"");
        }
        ++at_;
        if (at_ != end_ && *at_ == ' ') ++at_;
    }
}

bool AutodeployBody::argument(std::uint32_t position) {
    if (at_ == end_) return true;
    switch (*at_) {
        case '%': return vertex_argument(position);
        case '(': return is_whole_argument(at_, end_) ? list_argument(position) : text_argument(position);
        case '[':
        case '{': return list_argument(position);
        default: return text_argument(position);
    }
}

bool AutodeployBody::list_argument(std::uint32_t position) {
    const char* const after = list_reader_.read(at_, end_, position);
    if (after == nullptr) return fail("ADP-AD-002", fault_.at, fault_.message);
    at_ = after;
    return true;
}

bool AutodeployBody::vertex_argument(std::uint32_t position) {
    const Word name = read_word(at_ + 1, end_);
    if (name.text.empty()) return fail("ADP-AD-001", at_, "a name is wanted after '%'");
    at_ += 1 + name.text.size();
    std::string_view shape;
    std::string_view dtype;
    if (at_type_mark(at_, end_) && !argument_type(shape, dtype)) return false;
    arguments_.uses.push_back({use(name.text, shape, dtype), position});
    return true;
}

bool AutodeployBody::argument_type(std::string_view& shape, std::string_view& dtype) {
    const char* const begin = at_ + type_mark.size();
    const char* const middle = skip_type_part(begin, end_);
    if (!at_type_mark(middle, end_) || middle == begin) {
        return fail("ADP-AD-003", begin,
                    "a type, \"shape : dtype\", is wanted here: \"" + std::string{text_at(between(begin_, end_), begin)} + "\"");
    }
    at_ = skip_type_part(middle + type_mark.size(), end_);
    shape = between(begin, middle);
    dtype = between(middle + type_mark.size(), at_);
    return is_dtype(dtype) || fail("ADP-AD-003", dtype.data(), "a dtype is wanted here");
}

/// Text of a direct argument is printed without quotes: NCCL, cuda:0, bcln,bcsn->bcls. It names no vertex.
bool AutodeployBody::text_argument(std::uint32_t position) {
    const char* const begin = at_;
    const Word word = read_word(at_, end_);
    const char* const after = at_ + word.text.size();
    if (!word.text.empty() && after != end_ && *after == '(') {  // slice(None, x, None), device(type='cuda')
        return list_argument(position);
    }
    if (word.text.empty() && at_ != end_ && *at_ == '<') {
        const char* const closed = skip_angle_brackets(at_, end_);
        if (closed != nullptr) at_ = closed;
    }
    int depth = 0;
    for (; at_ != end_; ++at_) {
        if (*at_ == '(') ++depth;
        if (*at_ == ')' && --depth < 0) break;
        if (*at_ == ',' && depth == 0 && (at_ + 1 == end_ || at_[1] == ' ')) break;
    }
    arguments_.texts.push_back({between(begin, at_), position});
    return true;
}

/// " : shape : dtype" up to the end of the line; a call may have none.
bool AutodeployBody::result_type(std::string_view& shape, std::string_view& dtype) {
    while (end_ != at_ && end_[-1] == ' ') --end_;
    if (at_ == end_) return true;
    const std::string_view rest = between(at_, end_);
    const std::size_t middle = rest.find(type_mark, 1);
    if (!starts_with(rest, type_mark) || middle == std::string_view::npos || middle <= type_mark.size()) {
        return fail("ADP-AD-003", at_,
                    "a type, \" : shape : dtype\", is wanted here: \"" + std::string{text_at(between(begin_, end_), at_)} + "\"");
    }
    shape = rest.substr(type_mark.size(), middle - type_mark.size());
    dtype = rest.substr(middle + type_mark.size());
    const bool is_shape = skip_type_part(shape.data(), end_) == shape.data() + shape.size();
    if (!is_shape)
        return fail("ADP-AD-003", shape.data(), "the shape is not understood: \"" + std::string{text_at(rest, shape.data())} + "\"");
    return is_dtype(dtype) ||
           fail("ADP-AD-003", dtype.data(), "the dtype is not understood: \"" + std::string{text_at(rest, dtype.data())} + "\"");
}

/// A name that no line has defined so far is a weight; if a line defines it later, that line reports it.
VertexId AutodeployBody::use(std::string_view name, std::string_view shape, std::string_view dtype) {
    Vertex weight;
    weight.name = name;
    weight.shape = shape;
    weight.dtype = dtype;
    weight.kind = VertexKind::weight;
    weight.line = number_;
    const auto [vertex, is_new] = builder_.add(weight);
    if (is_new && !ends_with(name, "weight") && !ends_with(name, "bias")) doubtful_.push_back(vertex);
    if (is_new || shape.empty() || shape == "?") return vertex;
    const Vertex& known = builder_.vertex(vertex);
    if (known.kind == VertexKind::weight && (known.shape.empty() || known.shape == "?")) builder_.set_type(vertex, shape, dtype);
    return vertex;
}

VertexId AutodeployBody::resolve(const Word& word, bool is_opaque) {
    if (is_literal_word(word)) return no_vertex;
    if (is_opaque || is_size_symbol(word.text)) return builder_.find(word.text);
    return use(word.text, {}, {});
}

void AutodeployBody::end_module(const ModuleText& module) {
    if (builder_.size() == first_vertex_) {
        if (!findings_.has_errors()) fail("ADP-AD-010", module.header.data(), "module " + std::string{module.name} + " holds no graph");
        return;
    }
    if (output_ == no_vertex && !findings_.has_errors()) {
        findings_.error("ADP-AD-007", "module " + std::string{module.name} + " has no output line: the dump is cut off",
                        module.header.data(), "its last line is line " + std::to_string(number_ - 1));
    }
    check_weights();
}

/// The text does not tell a weight from an activation whose line is missing. What cannot be a weight is an error.
void AutodeployBody::check_weights() {
    for (VertexId v = first_vertex_; v < builder_.size(); ++v) {
        const Vertex& weight = builder_.vertex(v);
        if (weight.kind != VertexKind::weight || weight.dtype.empty()) continue;
        if (!is_no_tensor(weight.dtype) && !has_symbols(weight.shape)) continue;
        findings_.error("ADP-AD-006",
                        "%" + std::string{weight.name} + " is used, but no line defines it, and its type says that it is no weight: " +
                            std::string{weight.shape} + " : " + std::string{weight.dtype},
                        weight.name.data(), "lines of the dump are missing");
    }
    warn_of_missing_ops();
}

namespace {

/// Without the number that FX puts behind a name: "add_14" → "add".
std::string_view without_last_number(std::string_view name) {
    std::size_t end = name.size();
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
    return end > 0 && end < name.size() && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

/// What names of one kind have in common, and soon compared.
std::string_view last_letters(std::string_view name) {
    constexpr std::size_t most = 3;
    const std::string_view text = without_last_number(name);
    return text.substr(text.size() - std::min(most, text.size()));
}

/// "aten.add.Tensor" named "model_layers_5_add_14", "auto_deploy.x.default" named "x_default_3".
bool is_named_by_op(const Vertex& op) {
    std::string_view name = without_last_number(op.name);
    if (ends_with(name, "_default")) name.remove_suffix(std::string_view{"_default"}.size());
    const std::string_view called = short_op_name(op.op);
    return !called.empty() && ends_with(name, called);
}

/// Equal for names that differ in numbers alone.
std::uint64_t kind_of_name(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    bool in_digits = false;
    for (const char c : without_last_number(name)) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit || !in_digits)
            hash = (hash ^ (digit ? static_cast<unsigned char>('#') : static_cast<unsigned char>(c))) * 0x100000001b3U;
        in_digits = digit;
    }
    return hash;
}

}  // namespace

/// Ops of one kind are numbered, and in every layer they have the same names but for the numbers: add, add_1, model_layers_5_add_14. What has a name
/// of that kind is probably an op too, and no weight.
void AutodeployBody::warn_of_missing_ops() {
    std::vector<std::string_view> endings;
    for (const VertexId v : doubtful_) {
        const std::string_view ending = last_letters(builder_.vertex(v).name);
        if (std::find(endings.begin(), endings.end(), ending) == endings.end()) endings.push_back(ending);
    }
    std::unordered_set<std::uint64_t> named_by_op;
    for (VertexId v = first_vertex_; v < builder_.size() && !doubtful_.empty(); ++v) {
        const Vertex& op = builder_.vertex(v);
        if (op.kind != VertexKind::op || std::find(endings.begin(), endings.end(), last_letters(op.name)) == endings.end()) continue;
        if (is_named_by_op(op)) named_by_op.insert(kind_of_name(op.name));
    }
    for (const VertexId v : doubtful_) {
        const Vertex& weight = builder_.vertex(v);
        if (named_by_op.count(kind_of_name(weight.name)) == 0) continue;
        findings_.warning("ADP-AD-012",
                          "%" + std::string{weight.name} + " is taken for a weight since no line defines it, but it is named like an op",
                          weight.name.data(), "if it is one, lines of the dump are missing");
    }
}

}  // namespace adpipe::parse
