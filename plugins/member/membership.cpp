#include "membership.hpp"

#include "flow_graph.hpp"
#include "glob.hpp"
#include "groups.hpp"
#include "layer_names.hpp"
#include "layer_solver.hpp"
#include "layer_summary.hpp"
#include "layer_table.hpp"
#include "reasons.hpp"

#include <adpipe/beside.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>

namespace adpipe::member {

namespace {

/// Vertices.
constexpr std::size_t worth_a_thread = 1000;

/// One module with the parts that it calls, on its way to verdicts.
struct Root {
    Root(const GraphModel& graph, const RootModule& module, const Rules& rules)
        : names(rules.layer_words, rules.module_names), flow(read(graph, module, rules)), table(flow, weights, names.containers().size()) {
        names.name_stacks();
        weights = {};
    }

    /// Reads names of weights beside the flow, where both go through the text in one order.
    FlowGraph read(const GraphModel& graph, const RootModule& module, const Rules& rules) {
        const auto read_names = [&](std::span<const VertexId> order) {
            read_weight_names(graph, order, names, rules.weight_endings, weights);
            return weights.size();
        };
        if (module.calls_parts) {
            FlowGraph computation(graph, module.index);
            read_names(computation.origins());
            return computation;
        }
        const GraphModule& range = graph.modules()[module.index];
        std::vector<VertexId> order(range.end - range.begin);
        std::iota(order.begin(), order.end(), range.begin);
        weights.reserve(order.size());  // here, since the memory of other threads has small pages
        Beside<std::size_t> reading_names([&] { return read_names(order); }, order.size() >= worth_a_thread);
        FlowGraph computation(graph, module.index);
        reading_names.get();
        return computation;
    }

    LayerNames names;
    std::vector<WeightName> weights;  ///< until the table is made
    FlowGraph flow;
    LayerTable table;
    Evidence evidence;
    std::vector<std::int32_t> outside_container;  ///< per flow vertex: the stack that its name stands beside, or -1
};

/// Hash of the ops in order: two roots that have it in common are the same computation, printed twice.
std::uint64_t computation_hash(const FlowGraph& flow) {
    std::uint64_t hash = 0;
    for (FlowId v = 0; v < flow.size(); ++v) {
        if (flow.kind(v) == VertexKind::op) hash = combine(hash, flow.op_hash(v));
    }
    return hash;
}

class DataflowMembers {
public:
    DataflowMembers(const GraphModel& graph, const Rules& rules, NameUse names, std::vector<Diagnostic>& notes)
        : graph_(graph), rules_(rules), names_(names), notes_(notes) {
        for (const RootModule& module : root_modules(graph)) roots_.push_back(std::make_unique<Root>(graph, module, rules));
    }

    Layers run() {
        layers_.graph_digest = graph_.digest();
        layers_.of.resize(graph_.size());
        for (auto& root : roots_) collect_evidence(*root);
        if (names_ != NameUse::ignore) share_names_of_twins();
        for (auto& root : roots_) solve(*root);
        mark_outputs();
        summarize_layers(graph_, layers_);
        check_invariants(graph_, layers_, repeated_stacks_, notes_);
        return std::move(layers_);
    }

private:
    void collect_evidence(Root& root) {
        root.evidence.names = names_;
        root.evidence.of.resize(root.flow.size());
        root.outside_container.assign(root.flow.size(), -1);
        enum class Once : std::uint8_t { unknown, no, yes };
        std::vector<Once> once_ops(root.flow.op_count(), Once::unknown);
        for (FlowId v = 0; v < root.flow.size(); ++v) {
            bool once = false;
            if (root.flow.kind(v) == VertexKind::op) {
                Once& known = once_ops[root.flow.op_index(v)];
                if (known == Once::unknown) known = matches_any(rules_.once_ops, root.flow.bare(v)) ? Once::yes : Once::no;
                once = known == Once::yes;
            } else {
                once = root.table.of_weight(v) == no_layer && is_table(root.flow.vertex(v));
            }
            if (once) root.evidence.of[v].kind = Evidence::Kind::once;
        }
        if (names_ == NameUse::ignore || root.table.size() == 0) return;
        for (const FlowGraph::Place& place : root.flow.places()) add_name(root, place.flow, graph_.vertex(place.vertex));
    }

    bool is_table(const Vertex& vertex) const {
        return (vertex.kind == VertexKind::weight || vertex.kind == VertexKind::placeholder) && matches_any(rules_.tables, vertex.name);
    }

    void add_name(Root& root, FlowId v, const Vertex& vertex) {
        Evidence::Entry& entry = root.evidence.of[v];
        if (root.flow.kind(v) != VertexKind::op || entry.kind == Evidence::Kind::layer) return;
        if (const auto name = root.names.of_activation(full_name(vertex))) {
            const LayerIndex layer = root.table.find(name->container, name->layer);
            if (layer != no_layer) entry = {Evidence::Kind::layer, layer};
        } else if (const auto beside = root.names.outside_layers_of(full_name(vertex))) {
            root.outside_container[v] = static_cast<std::int32_t>(*beside);
            if (entry.kind == Evidence::Kind::none) entry = {Evidence::Kind::outside, root.table.first_of_container(*beside)};
        }
    }

    /// The parts of a split graph have lost the names; where the text holds the whole graph as well, its names serve both.
    void share_names_of_twins() {
        std::map<std::uint64_t, std::vector<Root*>> twins;
        for (auto& root : roots_) twins[computation_hash(root->flow)].push_back(root.get());
        for (auto& [hash, same] : twins) {
            for (Root* from : same) {
                for (Root* to : same) {
                    if (from != to) share_names(*from, *to);
                }
            }
        }
    }

    void share_names(const Root& from, Root& to) {
        FlowId other = 0;
        for (FlowId v = 0; v < to.flow.size(); ++v) {
            if (to.flow.kind(v) != VertexKind::op) continue;
            while (other < from.flow.size() && from.flow.kind(other) != VertexKind::op) ++other;
            if (other == from.flow.size()) return;
            add_name(to, v, from.flow.vertex(other++));
        }
    }

    std::vector<Verdict> solve_layers(Root& root) {
        LayerSolver solver(root.flow, root.table, root.evidence);
        std::vector<Verdict> verdicts = solver.solve();
        std::vector<FlowId> stale_names = solver.stale_names();
        const std::vector<LayerIndex> new_of = solver.out_of_order() ? root.table.arrange(root.flow) : std::vector<LayerIndex>{};
        if (!new_of.empty()) {
            for (Evidence::Entry& entry : root.evidence.of) {
                if (entry.layer != no_layer) entry.layer = new_of[static_cast<std::size_t>(entry.layer)];
            }
            LayerSolver again(root.flow, root.table, root.evidence);
            verdicts = again.solve();
            stale_names = again.stale_names();
        }
        if (names_ != NameUse::first) {  // else the name was taken at its word
            for (const FlowId v : stale_names) note_stale_name(root.flow.vertex(v));
        }
        return verdicts;
    }

    /// Of a model that goes through its layers again, a person wants to know that each layer holds all of its runs.
    void note_repeated_stacks(const Root& root) {
        const auto& containers = root.names.containers();
        for (std::uint32_t i = 0; i < containers.size(); ++i) {
            if (!root.table.runs_again(i)) continue;
            repeated_stacks_.insert(root.table.stack_count() > 1 ? layers_.text_id(containers[i].stack) : 0);
            Diagnostic note;
            note.severity = Severity::note;
            note.code = "ADP-MEMBER-008";
            note.message.append("the model goes through ")
                .append(containers[i].path)
                .append(" several times; each layer holds all of its runs");
            note.where.file = graph_.source().string();
            notes_.push_back(std::move(note));
        }
    }

    void solve(Root& root) {
        const std::vector<Verdict> verdicts = solve_layers(root);
        note_repeated_stacks(root);
        ReasonWriter reasons(root.flow, root.table, root.names, layers_);
        const auto write = [&] { return write_places(root, verdicts, reasons); };
        Beside<std::size_t> writing_places(write, root.flow.places().size() >= worth_a_thread);
        const std::vector<GroupLabel> groups = GroupFinder(root.flow, root.table, root.names, rules_, verdicts).find();
        writing_places.get();
        write_groups(root, groups);
    }

    /// Layer, stack and reason of each vertex of the root. Returns how many it has.
    std::size_t write_places(const Root& root, const std::vector<Verdict>& verdicts, ReasonWriter& reasons) {
        std::vector<TextId> stack_of_container;
        for (const LayerContainer& container : root.names.containers()) stack_of_container.push_back(layers_.text_id(container.stack));
        const std::vector<std::int32_t> stacks = find_stacks(root, verdicts);
        // The same vertex may stand in several parts; its reason is written once.
        std::vector<TextId> reason(root.flow.size(), 0);
        for (const FlowGraph::Place& place : root.flow.places()) {
            Membership& member = layers_.of[place.vertex];
            const Vertex& vertex = graph_.vertex(place.vertex);
            set_layer(root, verdicts[place.flow], member);
            if (stacks[place.flow] >= 0) member.stack = stack_of_container[static_cast<std::size_t>(stacks[place.flow])];
            if (reason[place.flow] == 0) reason[place.flow] = reasons.text(place.flow, verdicts[place.flow]);
            member.reason = reason[place.flow];
            if (vertex.kind == VertexKind::placeholder && is_plain_input(root, place.flow, member)) {
                member.layer = layer_input;
                member.reason = layers_.text_id("an input of the module");
            }
        }
        for (const FlowGraph::Call& call : root.flow.calls()) write_call(root, call, verdicts);
        return root.flow.places().size();
    }

    void write_groups(const Root& root, const std::vector<GroupLabel>& groups) {
        std::unordered_map<const std::string*, TextId> ids{{nullptr, 0}};
        for (const FlowGraph::Place& place : root.flow.places()) {
            const GroupLabel& label = groups[place.flow];
            Membership& member = layers_.of[place.vertex];
            member.group = label.group;
            const auto [at, is_new] = ids.try_emplace(label.sub_group, 0);
            if (is_new) at->second = layers_.text_id(*label.sub_group);
            member.sub_group = at->second;
        }
    }

    /// Which container of layers each flow vertex goes with, or -1; in a model of one stack, none.
    static std::vector<std::int32_t> find_stacks(const Root& root, const std::vector<Verdict>& verdicts) {
        std::vector<std::int32_t> stacks(root.flow.size(), -1);
        if (root.table.stack_count() <= 1) return stacks;
        const LayerIndex count = root.table.size();
        for (FlowId v = 0; v < root.flow.size(); ++v) {
            const Verdict& verdict = verdicts[v];
            const bool in_layer = verdict.layer >= 0 && verdict.layer < count;
            const LayerIndex near = verdict.layer >= count ? verdict.layer - count : in_layer ? verdict.layer : verdict.near;
            if (!in_layer && root.outside_container[v] >= 0) stacks[v] = root.outside_container[v];
            else if (near >= 0 && near < count) stacks[v] = static_cast<std::int32_t>(root.table.layer(near).container);
        }
        // What no layer needs and no name places, such as a mask that nothing reads in the end, goes with what the text has next.
        std::int32_t next = -1;
        for (FlowId v = root.flow.size(); v-- > 0;) {
            if (root.flow.kind(v) != VertexKind::op) continue;
            if (stacks[v] < 0) stacks[v] = next;
            next = stacks[v];
        }
        return stacks;
    }

    void mark_outputs() {
        for (VertexId v = 0; v < graph_.size(); ++v) {
            if (graph_.vertex(v).kind != VertexKind::output) continue;
            layers_.of[v].layer = layer_epilogue;
            layers_.of[v].reason = layers_.text_id("the output of the module");
        }
    }

    /// An input that several layers, or none, read belongs to nobody.
    static bool is_plain_input(const Root& root, FlowId v, const Membership& member) {
        return root.flow.kind(v) == VertexKind::placeholder && !root.table.is_weight(v) && member.layer == layer_prologue;
    }

    void set_layer(const Root& root, const Verdict& verdict, Membership& member) const {
        const auto number = [&](LayerIndex layer) {
            if (layer >= root.table.size()) return layer_epilogue;
            return layer < 0 ? layer_prologue : root.table.layer(layer).number;
        };
        member.layer = number(verdict.layer);
        member.also = verdict.also == no_layer ? layer_unknown : number(verdict.also);
        member.certain = verdict.certain;
    }

    /// A call of a part belongs to the layer of all that the part does, if that is one.
    void write_call(const Root& root, const FlowGraph::Call& call, const std::vector<Verdict>& verdicts) {
        Membership& member = layers_.of[call.vertex];
        std::set<LayerIndex> inside;
        std::optional<FlowId> example;
        for (FlowId v = call.begin; v < call.end; ++v) {
            if (root.flow.kind(v) != VertexKind::op) continue;
            inside.insert(verdicts[v].layer);
            example = v;
        }
        if (inside.empty()) {
            for (const FlowId v : call.results) {
                inside.insert(verdicts[v].layer);
                example = v;
            }
        }
        if (inside.size() == 1) {
            set_layer(root, verdicts[*example], member);
            member.also = layer_unknown;
            member.reason = layers_.text_id("all that this part does is there");
        } else {
            member.layer = layer_unknown;
            member.certain = false;
            member.reason = layers_.text_id(inside.empty() ? "this part does nothing" : "this part spans several layers");
        }
    }

    void note_stale_name(const Vertex& vertex) {
        Diagnostic note;
        note.severity = Severity::note;
        note.code = "ADP-MEMBER-001";
        note.message = "the name %" + std::string{vertex.name} + " contradicts the dataflow; the dataflow decides";
        note.where = {graph_.source().string(), vertex.line, 0};
        notes_.push_back(std::move(note));
    }

    const GraphModel& graph_;
    const Rules& rules_;
    const NameUse names_;
    std::vector<Diagnostic>& notes_;
    std::vector<std::unique_ptr<Root>> roots_;
    std::set<TextId> repeated_stacks_;
    Layers layers_;
};

}  // namespace

Layers members_by_dataflow(const GraphModel& graph, const Rules& rules, NameUse names, std::vector<Diagnostic>& notes) {
    return DataflowMembers(graph, rules, names, notes).run();
}

}  // namespace adpipe::member
