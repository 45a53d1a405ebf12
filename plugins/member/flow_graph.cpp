#include "flow_graph.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

namespace adpipe::member {

namespace {

using PartKey = std::pair<std::uint16_t, std::string_view>;  ///< calling module, what its ops call

/// Modules named "<other module>.<target>" or "<other module>.<target>.<inner>" are what that module's calls of <target> do.
std::map<PartKey, std::uint16_t> find_parts(const GraphModel& graph) {
    std::map<std::string_view, std::uint16_t> by_name;
    const auto modules = graph.modules();
    for (std::uint16_t m = 0; m < modules.size(); ++m) by_name.emplace(modules[m].name, m);
    std::map<PartKey, std::uint16_t> parts;
    for (std::uint16_t m = 0; m < modules.size(); ++m) {
        const std::string_view name = modules[m].name;
        // The longest enclosing module is the caller.
        for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
            const auto caller = by_name.find(name.substr(0, dot));
            if (caller == by_name.end()) continue;
            const std::string_view inside = name.substr(dot + 1);
            parts.emplace(PartKey{caller->second, inside.substr(0, inside.find('.'))}, m);
            break;
        }
    }
    return parts;
}

std::optional<std::size_t> getitem_index(const GraphModel& graph, VertexId v) {
    for (const Literal& literal : graph.literals(v)) {
        if (literal.argument != 1) continue;
        std::size_t index = 0;
        const char* end = literal.text.data() + literal.text.size();
        const auto [stop, error] = std::from_chars(literal.text.data(), end, index);
        if (error == std::errc{} && stop == end) return index;
    }
    return std::nullopt;
}

}  // namespace

std::vector<RootModule> root_modules(const GraphModel& graph) {
    std::vector<bool> called(graph.modules().size(), false);
    std::vector<bool> calls(graph.modules().size(), false);
    for (const auto& [key, part] : find_parts(graph)) {
        called[part] = true;
        calls[key.first] = true;
    }
    std::vector<RootModule> roots;
    for (std::uint16_t m = 0; m < called.size(); ++m) {
        if (!called[m]) roots.push_back({m, calls[m]});
    }
    return roots;
}

/// Walks a module and the parts that it calls, adding a flow vertex per op, weight and input.
class FlowGraph::Builder {
public:
    Builder(const GraphModel& graph, FlowGraph& flow) : graph_(graph), flow_(flow), parts_(find_parts(graph)), values_(graph.size()) {}

    void run(std::uint16_t module) { walk(module, {}, true, 0); }

private:
    /// What a vertex of the text stands for: one flow vertex, or the results of a call.
    struct Value {
        FlowId flow = no_flow;
        std::uint32_t call = no_flow;
    };
    static constexpr int deepest_call = 64;

    std::vector<FlowId> walk(std::uint16_t module, const std::vector<FlowId>& bound, bool is_root, int depth) {
        const GraphModule& range = graph_.modules()[module];
        std::vector<FlowId> results;
        std::size_t inputs = 0;
        for (VertexId v = range.begin; v < range.end; ++v) {
            switch (graph_.vertex(v).kind) {
                case VertexKind::weight: set(v, weight(v)); break;
                case VertexKind::placeholder:
                    set(v, inputs < bound.size() && bound[inputs] != no_flow ? bound[inputs] : add(v));
                    ++inputs;
                    break;
                case VertexKind::output:
                    for (const Edge& use : graph_.inputs(v)) append_values(use.source, results);
                    if (is_root) set(v, add(v));
                    break;
                case VertexKind::op: op(v, module, depth); break;
            }
        }
        return results;
    }

    void op(VertexId v, std::uint16_t module, int depth) {
        const auto part = parts_.find({module, graph_.vertex(v).op});
        if (part != parts_.end() && part->second != module && depth < deepest_call) {
            call(v, part->second, depth);
            return;
        }
        if (!flow_.calls_.empty() && bare_op(graph_.vertex(v).op) == "getitem") {
            const FlowId picked = result_of_call(v);
            if (picked != no_flow) {
                set(v, picked);
                return;
            }
        }
        set(v, add(v));
    }

    void call(VertexId v, std::uint16_t part, int depth) {
        std::vector<FlowId> bound;
        for (const Edge& use : graph_.inputs(v)) {
            if (use.kind != EdgeKind::data) continue;
            if (use.argument >= bound.size()) bound.resize(use.argument + 1, no_flow);
            bound[use.argument] = first_value(use.source);
        }
        const FlowId begin = flow_.size();
        std::vector<FlowId> results = walk(part, bound, false, depth + 1);
        values_[v].call = static_cast<std::uint32_t>(flow_.calls_.size());
        flow_.calls_.push_back({v, begin, flow_.size(), std::move(results)});
    }

    /// For `getitem(call, k)` of a call with several results: the k-th.
    FlowId result_of_call(VertexId v) {
        const auto uses = graph_.inputs(v);
        if (uses.empty() || values_[uses[0].source].call == no_flow) return no_flow;
        const std::vector<FlowId>& results = flow_.calls_[values_[uses[0].source].call].results;
        const auto index = getitem_index(graph_, v);
        return results.size() > 1 && index && *index < results.size() ? results[*index] : no_flow;
    }

    FlowId first_value(VertexId v) const {
        const Value& value = values_[v];
        if (value.call == no_flow) return value.flow;
        const std::vector<FlowId>& results = flow_.calls_[value.call].results;
        return results.empty() ? no_flow : results.front();
    }

    void append_values(VertexId v, std::vector<FlowId>& into) {
        const Value& value = values_[v];
        if (value.call != no_flow) {
            const std::vector<FlowId>& results = flow_.calls_[value.call].results;
            into.insert(into.end(), results.begin(), results.end());
        } else if (value.flow != no_flow) {
            into.push_back(value.flow);
        }
    }

    /// Parts use the weights of the whole by name.
    FlowId weight(VertexId v) {
        if (parts_.empty()) return add(v);
        const auto [at, is_new] = weights_.try_emplace(graph_.vertex(v).name, no_flow);
        if (is_new) at->second = add(v);
        return at->second;
    }

    void set(VertexId v, FlowId flow) {
        values_[v].flow = flow;
        flow_.places_.push_back({v, flow});
    }

    FlowId add(VertexId v) {
        const Vertex& vertex = graph_.vertex(v);
        const FlowId id = flow_.size();
        bool all_numbers = true;
        for (const Edge& use : graph_.inputs(v)) {
            if (use.kind != EdgeKind::data) continue;
            const FlowId source = first_value(use.source);
            if (source == no_flow) continue;
            flow_.arguments_.push_back(source);
            flow_.argument_position_.push_back(use.argument);
            all_numbers = all_numbers && flow_.is_number_[source] != 0;
        }
        const bool has_arguments = flow_.arguments_.size() > flow_.argument_begin_.back();
        flow_.argument_begin_.push_back(static_cast<std::uint32_t>(flow_.arguments_.size()));
        flow_.origin_.push_back(v);
        flow_.kind_.push_back(vertex.kind);
        const std::uint32_t op = op_of(vertex);
        const OpFacts& facts = flow_.ops_[op];
        flow_.op_of_.push_back(op);
        flow_.op_hash_.push_back(facts.hash);
        std::uint64_t literals = 0;
        for (const Literal& literal : graph_.literals(v)) literals = hash_text(literal.text, combine(literals, literal.argument));
        flow_.literal_hash_.push_back(literals);
        const bool number = has_number_type(vertex) || facts.reads_size || (has_arguments && all_numbers && facts.is_number_arithmetic);
        flow_.is_number_.push_back(number ? 1 : 0);
        return id;
    }

    /// Neighbours are mostly alike.
    bool has_number_type(const Vertex& vertex) {
        if (vertex.dtype != last_dtype_) {
            last_dtype_ = vertex.dtype;
            last_is_number_ = is_number_type(vertex.dtype);
        }
        return last_is_number_;
    }

    /// Index of the op's facts.
    std::uint32_t op_of(const Vertex& vertex) {
        const OpKey key{vertex.op, vertex.kind};
        if (!flow_.ops_.empty() && key == last_op_) return last_op_index_;
        const auto [at, is_new] = op_index_.try_emplace(key, static_cast<std::uint32_t>(flow_.ops_.size()));
        if (is_new) flow_.ops_.emplace_back(vertex.op, vertex.kind);
        last_op_ = key;
        return last_op_index_ = at->second;
    }

    struct OpKey {
        std::string_view text;
        VertexKind kind = VertexKind::op;

        friend bool operator==(const OpKey&, const OpKey&) = default;
    };
    struct OpKeyHash {
        std::size_t operator()(const OpKey& key) const noexcept { return hash_text(key.text, static_cast<std::uint64_t>(key.kind)); }
    };

    const GraphModel& graph_;
    FlowGraph& flow_;
    std::unordered_map<OpKey, std::uint32_t, OpKeyHash> op_index_;
    OpKey last_op_;  // weights stand together
    std::uint32_t last_op_index_ = 0;
    std::map<PartKey, std::uint16_t> parts_;
    std::vector<Value> values_;
    std::string_view last_dtype_;
    bool last_is_number_ = false;
    std::map<std::string_view, FlowId> weights_;
};

FlowGraph::FlowGraph(const GraphModel& graph, std::uint16_t module) : graph_(&graph) {
    reserve(graph.modules()[module]);
    Builder(graph, *this).run(module);
    find_sources();
    find_users();
}

bool FlowGraph::picks_result(FlowId v) const {
    if (!op(v).is_getitem) return false;
    const auto args = arguments(v);
    const std::string_view shape = args.empty() ? std::string_view{} : vertex(args[0]).shape;
    return shape.empty() || shape == "?" || shape.starts_with("(");
}

std::int64_t FlowGraph::picked_result(FlowId v) const {
    if (!picks_result(v)) return -1;
    const auto index = getitem_index(*graph_, origin_[v]);
    return index ? static_cast<std::int64_t>(*index) : -1;
}

void FlowGraph::reserve(const GraphModule& module) {
    const std::size_t vertices = module.end - module.begin;
    origin_.reserve(vertices);
    kind_.reserve(vertices);
    op_of_.reserve(vertices);
    op_hash_.reserve(vertices);
    literal_hash_.reserve(vertices);
    is_number_.reserve(vertices);
    argument_begin_.reserve(vertices + 1);
    places_.reserve(vertices);
}

void FlowGraph::find_sources() {
    // `base`: the vertex whose storage a value shares; `writer`: by base, the op that wrote it last.
    std::vector<FlowId> base(size());
    std::vector<FlowId> writer(size(), no_flow);
    source_begin_.reserve(size() + 1);
    source_begin_.assign(1, 0);
    sources_.reserve(arguments_.size());
    for (FlowId v = 0; v < size(); ++v) {
        base[v] = v;
        const auto args = arguments(v);
        for (const FlowId a : args) {
            const FlowId last = writer[base[a]];
            if (last == no_flow || last == v || last < a) {
                sources_.push_back(a);
                continue;
            }
            const auto written = arguments(last);
            const bool reads_whole = a == base[a] || std::find(written.begin(), written.end(), a) != written.end();
            if (!reads_whole) sources_.push_back(a);  // a view of what was written through another view
            sources_.push_back(last);
        }
        source_begin_.push_back(static_cast<std::uint32_t>(sources_.size()));
        if (kind_[v] != VertexKind::op || args.empty()) continue;
        if (op(v).is_view) base[v] = base[args[0]];
        for (const std::uint8_t position : op(v).in_place) {
            for (std::uint32_t i = argument_begin_[v]; i < argument_begin_[v + 1]; ++i) {
                if (argument_position_[i] == position) writer[base[arguments_[i]]] = v;
            }
        }
    }
}

void FlowGraph::find_users() {
    user_begin_.assign(size() + 1, 0);
    const auto uses = [&](FlowId v) { return op(v).is_check ? std::span<const FlowId>{} : sources(v); };
    for (FlowId v = 0; v < size(); ++v) {
        for (const FlowId source : uses(v)) ++user_begin_[source + 1];
    }
    for (FlowId v = 0; v < size(); ++v) user_begin_[v + 1] += user_begin_[v];
    users_.resize(user_begin_.back());
    std::vector<std::uint32_t> next(user_begin_.begin(), user_begin_.end() - 1);
    for (FlowId v = 0; v < size(); ++v) {
        for (const FlowId source : uses(v)) users_[next[source]++] = v;
    }
}

}  // namespace adpipe::member
