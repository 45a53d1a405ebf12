#include "op_table.hpp"

#include <algorithm>
#include <cctype>

namespace adpipe::align {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_under(std::string_view path, std::string_view prefix) {
    return starts_with(path, prefix) && (path.size() == prefix.size() || path[prefix.size()] == '_');
}

std::string without_digits(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
            result += c;
        } else if (result.empty() || result.back() != '#') {
            result += '#';
        }
    }
    return result;
}

bool is_cast(std::string_view op) {
    return op == "aten.to" || starts_with(op, "aten.to.") || starts_with(op, "aten._to_copy") || starts_with(op, "aten.type_as");
}

bool keeps_dtype(std::string_view op) {
    for (const std::string_view name : {"aten.view", "aten.reshape", "aten.transpose", "aten.permute", "aten.unsqueeze", "aten.squeeze",
                                        "aten.slice", "aten.select", "aten.expand", "aten.flatten", "aten.contiguous", "aten.clone"}) {
        if (starts_with(op, name)) return true;
    }
    return false;
}

bool is_single_dtype(std::string_view dtype) { return starts_with(dtype, "torch."); }

/// "aten.to.dtype" → "aten.to"; what has no namespace stays as it is.
std::string_view without_overload(std::string_view op) {
    const std::size_t name = op.find('.');
    return name == std::string_view::npos ? op : op.substr(0, op.find('.', name + 1));
}

}  // namespace

std::string rule_name(const Vertex& vertex) {
    const std::string op(vertex.op);
    if (starts_with(vertex.target, "<built-in function")) return op == "getitem" ? op : "operator." + op;
    if (starts_with(vertex.target, "<built-in method")) return "aten." + op;
    if (starts_with(vertex.target, "<function")) return "function." + op;
    return op;
}

std::string as_identifier(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return result;
}

OpTable::OpTable(const GraphModel& graph, const Layers& layers) : graph_(graph), layers_(layers) {
    choose_module();
    paths_of_.resize(vertices_.size());
    for (std::uint32_t op = 0; op < vertices_.size(); ++op) {
        by_name_.emplace(graph_.vertex(vertices_[op]).name, op);
        add_paths(op, vertices_[op]);
        calls_.push_back(without_overload(graph_.vertex(vertices_[op]).op));
        distinct_calls_.insert(calls_.back());
    }
    std::sort(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) { return a.text < b.text; });
}

/// The whole model where the graph has it in one module; parts of it are other modules.
void OpTable::choose_module() {
    const GraphModule* chosen = nullptr;
    for (const GraphModule& module : graph_.modules()) {
        const bool monolithic = module.name.find("monolithic") != std::string::npos;
        const bool larger = chosen == nullptr || module.end - module.begin > chosen->end - chosen->begin;
        if (monolithic || larger) chosen = &module;
        if (monolithic) break;
    }
    if (chosen == nullptr) return;
    for (VertexId v = chosen->begin; v < chosen->end; ++v) {
        if (graph_.vertex(v).kind == VertexKind::op) vertices_.push_back(v);
    }
    const auto by_line = [&](VertexId a, VertexId b) { return graph_.vertex(a).line < graph_.vertex(b).line; };
    std::stable_sort(vertices_.begin(), vertices_.end(), by_line);
}

void OpTable::add_paths(std::uint32_t op, VertexId v) {
    auto& own = paths_of_[op];
    own.push_back(as_identifier(graph_.vertex(v).name));
    for (const Edge& edge : graph_.inputs(v)) {
        if (graph_.vertex(edge.source).kind == VertexKind::weight) own.push_back(as_identifier(graph_.vertex(edge.source).name));
        constexpr std::size_t enough = 8;  // a mixture of experts names hundreds
        if (own.size() > enough) break;
    }
    for (const std::string& text : own) paths_.push_back({text, op});
}

std::vector<std::vector<std::uint32_t>> OpTable::producers() const {
    std::unordered_map<VertexId, std::uint32_t> op_of;
    for (std::uint32_t op = 0; op < vertices_.size(); ++op) op_of.emplace(vertices_[op], op);
    std::vector<std::vector<std::uint32_t>> producers(vertices_.size());
    for (std::uint32_t op = 0; op < vertices_.size(); ++op) {
        for (const Edge& edge : graph_.inputs(vertices_[op])) {
            const auto source = op_of.find(edge.source);
            if (edge.kind == EdgeKind::data && source != op_of.end()) producers[op].push_back(source->second);
        }
    }
    return producers;
}

std::uint32_t OpTable::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? no_op : found->second;
}

bool OpTable::is_in_module(std::uint32_t op, std::string_view prefix) const {
    const auto& own = paths_of_[op];
    return std::any_of(own.begin(), own.end(), [&](const std::string& path) { return is_under(path, prefix); });
}

std::vector<std::uint32_t> OpTable::ops_in_module(std::string_view prefix) const {
    std::vector<std::uint32_t> ops;
    auto at = std::lower_bound(paths_.begin(), paths_.end(), prefix,
                               [](const Path& path, std::string_view text) { return path.text < text; });
    for (; at != paths_.end() && starts_with(at->text, prefix); ++at) {
        if (is_under(at->text, prefix)) ops.push_back(at->op);
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
}

void OpTable::bind(LaunchModel& model) {
    std::unordered_map<std::string, std::uint32_t> signatures;
    lattice_ops_.clear();
    bool side_stream = false;
    for (const VertexId v : vertices_) {
        const std::string op = rule_name(graph_.vertex(v));
        if (op.find("begin_aux_stream") != std::string::npos) side_stream = true;
        if (op.find("end_aux_stream") != std::string::npos) side_stream = false;
        LatticeOp entry;
        entry.profile = model.profile(op, cast_condition(v));
        entry.signature = signatures.try_emplace(signature(v), static_cast<std::uint32_t>(signatures.size())).first->second;
        const std::string_view base = std::string_view(op).substr(0, op.rfind(".default"));
        entry.side_stream = side_stream || (base.size() > 4 && base.substr(base.size() - 4) == "_aux");
        lattice_ops_.push_back(entry);
    }
}

/// The dtype of a value; through views where the text does not print it.
std::string_view OpTable::dtype_of(VertexId v) const {
    for (int hops = 0; hops < 8; ++hops) {
        const Vertex& vertex = graph_.vertex(v);
        if (is_single_dtype(vertex.dtype)) return vertex.dtype;
        const auto inputs = graph_.inputs(v);
        if (!keeps_dtype(vertex.op) || inputs.empty()) return {};
        v = inputs.front().source;
    }
    return {};
}

CastCondition OpTable::cast_condition(VertexId v) const {
    if (!is_cast(rule_name(graph_.vertex(v)))) return CastCondition::none;
    const auto inputs = graph_.inputs(v);
    const std::string_view to = dtype_of(v);
    const std::string_view from = inputs.empty() ? std::string_view{} : dtype_of(inputs.front().source);
    if (from.empty() || to.empty()) return CastCondition::unknown_dtype;
    return from == to ? CastCondition::same_dtype : CastCondition::new_dtype;
}

/// Equal for calls that must behave alike: same op, same shapes, same weights but for the numbers in their names.
std::string OpTable::signature(VertexId v) const {
    const Vertex& vertex = graph_.vertex(v);
    std::string text(vertex.op);
    std::size_t listed = 0;
    for (const Edge& edge : graph_.inputs(v)) {
        if (edge.kind == EdgeKind::memory) continue;
        const Vertex& source = graph_.vertex(edge.source);
        text += '(';
        if (source.kind == VertexKind::weight) text += without_digits(source.name);
        text += ':';
        text += source.shape;
        text += ':';
        text += source.dtype;
        constexpr std::size_t enough = 24;
        if (++listed > enough) break;
    }
    for (const Literal& literal : graph_.literals(v)) text += ',' + without_digits(literal.text);
    text += ")->";
    text += vertex.shape;
    text += vertex.dtype;
    std::size_t parts = 0;
    for (const Edge& edge : graph_.outputs(v)) parts += graph_.vertex(edge.target).op == "getitem" ? 1 : 0;
    return text + '/' + std::to_string(parts);
}

}  // namespace adpipe::align
