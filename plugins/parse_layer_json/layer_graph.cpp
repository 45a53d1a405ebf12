#include "layer_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>

namespace adpipe::layer_json {

namespace {

class Maker {
public:
    Maker(const std::filesystem::path& path, const LayerFile& file) : path_(path), file_(file), builder_(path, nullptr) {}

    LayerGraph make() {
        learn_names();
        check_names();
        const std::vector<std::size_t> order = order_of_nodes();
        builder_.begin_module(file_.module.empty() ? fmt::format("layer_{}", file_.layer) : file_.module, 1);
        for (const ExternalInput& input : file_.inputs) {
            // A table that several layers read is listed as an external input as well.
            const VertexKind kind = weights_.count(input.id) != 0 ? VertexKind::weight : VertexKind::placeholder;
            add_vertex(kind, input.id, "", input.shape, input.dtype);
        }
        for (const std::size_t i : order) add_node(file_.nodes[i]);
        add_further_links();
        LayerGraph made;
        builder_size_ = builder_.size();
        made.graph = builder_.freeze();
        made.layers = layers(made.graph->digest());
        made.metrics = metrics(made.graph->digest());
        return made;
    }

private:
    void fault(const char* code, std::string message) {
        if (faults_.size() == most_faults) return;
        Diagnostic diagnostic;
        diagnostic.code = code;
        diagnostic.message = std::move(message);
        diagnostic.where = {path_.string(), 0, 0};
        faults_.push_back(std::move(diagnostic));
    }

    void learn_names() {
        for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
            if (!node_.emplace(file_.nodes[i].id, i).second)
                fault("ADP-LJ-003", fmt::format("nodes[{}]: the id \"{}\" is there already", i, file_.nodes[i].id));
        }
        std::set<std::string_view> inputs;
        for (std::size_t i = 0; i < file_.inputs.size(); ++i) {
            const std::string& id = file_.inputs[i].id;
            if (node_.count(id) != 0 || !inputs.insert(id).second)
                fault("ADP-LJ-003", fmt::format("external_inputs[{}]: the id \"{}\" is there already", i, id));
        }
        known_ = std::move(inputs);
        for (const Node& node : file_.nodes) {
            known_.insert(node.id);
            for (const Weight& weight : node.weights) weights_.insert(weight.name);
        }
        for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
            if (weights_.count(file_.nodes[i].id) != 0)
                fault("ADP-LJ-003", fmt::format("nodes[{}]: the id \"{}\" is a weight's as well", i, file_.nodes[i].id));
        }
    }

    void check_names() {
        const auto check = [&](const std::string& id, const std::string& where) {
            if (known_.count(id) == 0) fault("ADP-LJ-004", fmt::format("{}: \"{}\" is neither a node nor an external input", where, id));
        };
        for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
            for (std::size_t k = 0; k < file_.nodes[i].inputs.size(); ++k)
                check(file_.nodes[i].inputs[k], fmt::format("nodes[{}].inputs[{}]", i, k));
        }
        for (std::size_t i = 0; i < file_.links.size(); ++i) {
            check(file_.links[i].from, fmt::format("edges[{}].from", i));
            check(file_.links[i].to, fmt::format("edges[{}].to", i));
        }
        if (!faults_.empty()) throw Error(std::move(faults_));
    }

    /// Every node behind those that it reads; else in the order of the file.
    std::vector<std::size_t> order_of_nodes() {
        std::vector<std::vector<std::size_t>> users(file_.nodes.size());
        std::vector<std::size_t> missing(file_.nodes.size(), 0);
        const auto wait = [&](std::size_t reader, const std::string& read) {
            const auto source = node_.find(read);
            if (source == node_.end()) return;
            users[source->second].push_back(reader);
            ++missing[reader];
        };
        for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
            for (const std::string& input : file_.nodes[i].inputs) wait(i, input);
        }
        for (const Link& link : file_.links) {
            if (const auto to = node_.find(link.to); to != node_.end()) wait(to->second, link.from);
        }
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t i = 0; i < missing.size(); ++i) {
            if (missing[i] == 0) ready.push(i);
        }
        std::vector<std::size_t> order;
        while (!ready.empty()) {
            order.push_back(ready.top());
            ready.pop();
            for (const std::size_t user : users[order.back()]) {
                if (--missing[user] == 0) ready.push(user);
            }
        }
        if (order.size() == file_.nodes.size()) return order;
        const auto stuck = std::find_if(missing.begin(), missing.end(), [](std::size_t count) { return count > 0; });
        const auto i = static_cast<std::size_t>(stuck - missing.begin());
        fault("ADP-LJ-005",
              fmt::format("the nodes wait for each other in a circle; nodes[{}], \"{}\", is in it or behind it", i, file_.nodes[i].id));
        throw Error(std::move(faults_));
    }

    VertexId add_vertex(VertexKind kind, const std::string& name, const std::string& op, const std::string& shape,
                        const std::string& dtype) {
        Vertex vertex;
        vertex.kind = kind;
        vertex.name = builder_.intern(name);
        vertex.target = builder_.intern(op);
        vertex.shape = builder_.intern(shape);
        vertex.dtype = builder_.intern(dtype);
        return builder_.add(vertex).vertex;
    }

    void add_node(const Node& node) {
        std::vector<VertexId> weights;
        for (const Weight& weight : node.weights) {
            const VertexId known = builder_.find(weight.name);
            weights.push_back(known != no_vertex ? known : add_vertex(VertexKind::weight, weight.name, "", weight.shape, weight.dtype));
        }
        const VertexId v = add_vertex(VertexKind::op, node.id, node.op, node.shape, node.dtype);
        vertex_.emplace(node.id, v);
        std::uint32_t argument = 0;
        for (const std::string& input : node.inputs) {
            builder_.connect(builder_.find(input), v, argument++);
            connected_.insert({builder_.find(input), v});
        }
        for (const VertexId weight : weights) {
            if (connected_.insert({weight, v}).second) builder_.connect(weight, v, argument++);
        }
        argument_count_.resize(builder_.size(), 0);
        argument_count_[v] = argument;
    }

    /// Edges that no node lists among its inputs. Those through memory come back by themselves where the op is known to write in place.
    void add_further_links() {
        for (const Link& link : file_.links) {
            const VertexId from = builder_.find(link.from);
            const VertexId to = builder_.find(link.to);
            if (builder_.vertex(to).kind != VertexKind::op || connected_.count({from, to}) != 0) continue;
            if (link.memory && !in_place_arguments(builder_.vertex(from).op).empty()) continue;
            connected_.insert({from, to});
            builder_.connect(from, to, argument_count_[to]++, link.memory ? EdgeKind::memory : EdgeKind::data);
        }
    }

    static Group group_named(std::string_view name) {
        constexpr std::array<Group, 8> all{Group::other, Group::norm, Group::attention, Group::mla,
                                           Group::moe,   Group::mlp,  Group::mamba,     Group::gdn};
        const auto found = std::find_if(all.begin(), all.end(), [&](Group group) { return group_text(group) == name; });
        return found == all.end() ? Group::other : *found;
    }

    /// The number in "Layer 4 residual output".
    static LayerId layer_in_label(std::string_view label) {
        constexpr std::string_view before = "Layer ";
        if (label.substr(0, before.size()) != before) return layer_input;
        LayerId number = layer_input;
        const auto [end, error] = std::from_chars(label.data() + before.size(), label.data() + label.size(), number);
        const bool is_residual = error == std::errc{} &&
                                 std::string_view{end, static_cast<std::size_t>(label.data() + label.size() - end)} == " residual output";
        return is_residual && number >= 0 ? number : layer_input;
    }

    std::shared_ptr<const Layers> layers(std::uint64_t digest) {
        auto layers = std::make_shared<Layers>();
        layers->graph_digest = digest;
        layers->strategy = "parse.layer_json";
        layers->of.resize(builder_size_);
        Membership weight;
        weight.layer = file_.layer;
        weight.reason = layers->text_id("a weight of a node in the file of this layer");
        for (Membership& member : layers->of) member = weight;
        const TextId stated = layers->text_id("in the file of this layer");
        std::map<LayerId, std::vector<VertexId>> handed_on;
        for (std::size_t i = 0; i < file_.inputs.size(); ++i) {
            Membership& member = layers->of[i];  // external inputs were added first
            member.layer = layer_in_label(file_.inputs[i].label);
            if (member.layer == file_.layer) member.layer = layer_input;
            member.reason = layers->text_id("an external input of the file");
            if (member.layer >= 0) handed_on[member.layer].push_back(static_cast<VertexId>(i));
        }
        for (const auto& [id, v] : vertex_) {
            const Node& node = file_.nodes[node_.at(id)];
            layers->of[v].group = group_named(node.group);
            layers->of[v].sub_group = layers->text_id(node.sub_group);
            layers->of[v].reason = node.reason.empty() ? stated : layers->text_id(node.reason);
        }
        for (const auto& [number, values] : handed_on) {
            Layer other;
            other.number = number;
            other.boundary_out = values;
            other.outside = true;
            layers->layers.push_back(std::move(other));
        }
        Layer own;
        own.number = file_.layer;
        own.vertex_count = static_cast<std::uint32_t>(file_.nodes.size());
        for (const std::string& id : file_.hands_on) {
            if (const auto at = vertex_.find(id); at != vertex_.end()) own.boundary_out.push_back(at->second);
        }
        layers->layers.push_back(std::move(own));
        std::sort(layers->layers.begin(), layers->layers.end(), [](const Layer& a, const Layer& b) { return a.number < b.number; });
        return layers;
    }

    std::shared_ptr<const Metrics> metrics(std::uint64_t digest) const {
        auto metrics = std::make_shared<Metrics>();
        metrics->graph_digest = digest;
        const bool timed = std::any_of(file_.nodes.begin(), file_.nodes.end(), [](const Node& node) { return node.kernel_count > 0; });
        if (!timed) return metrics;
        const std::vector<double> unknown(builder_size_, std::numeric_limits<double>::quiet_NaN());
        MetricColumn time{"kernel_time", "us", "sum of the durations of the node's kernels, as the file states them", unknown};
        MetricColumn count{"kernels", "", "number of kernels that the file has on the node", unknown};
        for (const auto& [id, v] : vertex_) {
            const Node& node = file_.nodes[node_.at(id)];
            if (node.kernel_count == 0) continue;
            time.by_vertex[v] = node.kernel_us;
            count.by_vertex[v] = node.kernel_count;
        }
        metrics->columns = {std::move(time), std::move(count)};
        return metrics;
    }

    std::filesystem::path path_;
    const LayerFile& file_;
    GraphBuilder builder_;
    std::map<std::string_view, std::size_t> node_;
    std::set<std::string_view> known_;
    std::set<std::string_view> weights_;
    std::set<std::pair<VertexId, VertexId>> connected_;
    std::vector<std::uint32_t> argument_count_;
    std::map<std::string_view, VertexId> vertex_;  ///< of the nodes
    std::size_t builder_size_ = 0;
    std::vector<Diagnostic> faults_;
};

}  // namespace

LayerGraph make_graph(const std::filesystem::path& path, const LayerFile& file) { return Maker(path, file).make(); }

}  // namespace adpipe::layer_json
