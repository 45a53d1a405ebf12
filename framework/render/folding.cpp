#include <adpipe/render/folding.hpp>

#include <adpipe/render/op_facts.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace adpipe::render {

namespace {

/// A shown vertex (or input) from which a value comes, and the folded ops between.
struct Origin {
    VertexId vertex;
    EdgeKind kind;
    std::vector<VertexId> through;
};

class Folder {
public:
    Folder(const LayerView& view, Fold fold) : view_(view), fold_(fold) {
        for (const VertexId v : view.nodes) inside_.insert(v);
        for (const VertexId v : view.borrowed) inside_.insert(v);
        for (const ExternalInput& input : view.inputs) inputs_.insert(input.vertex);
    }

    FoldedLayer run() {
        FoldedLayer folded;
        for (const VertexId v : inside_) {
            origins(v);  // in the order of the text, so that long chains do not recurse
            if (!is_folded(v)) folded.nodes.push_back(v);
        }
        std::set<VertexId> used;
        for (const VertexId v : folded.nodes) {
            for (Origin& origin : origins_of_inputs(v)) {
                used.insert(origin.vertex);
                folded.edges.push_back({origin.vertex, v, origin.kind, std::move(origin.through)});
            }
        }
        for (const VertexId v : view_.boundary_out) {
            if (inside_.count(v) == 0) continue;
            for (const Origin& origin : origins(v)) folded.outputs.push_back({origin.vertex, v, origin.kind, origin.through});
        }
        for (const ExternalInput& input : view_.inputs) {
            if (used.count(input.vertex) != 0 && inside_.count(input.vertex) == 0) folded.inputs.push_back(input);
        }
        return folded;
    }

private:
    bool is_folded(VertexId v) const {
        return fold_ == Fold::shape && view_.contains(v) && view_.kernels_of(v).empty() && is_shape_only(*view_.graph, v);
    }

    /// Where the value of `v` comes from: itself if it is shown.
    const std::vector<Origin>& origins(VertexId v) {
        const auto known = origins_.find(v);
        if (known != origins_.end()) return known->second;
        std::vector<Origin>& result = origins_[v];  // an empty list while it is computed: a cycle of memory edges ends there
        std::vector<Origin> found;
        if (!is_folded(v)) {
            found.push_back({v, EdgeKind::data, {}});
        } else {
            for (const Edge& edge : view_.graph->inputs(v)) {
                // Further arguments of a shape-only op are sizes; its value is that of the first.
                if (edge.kind == EdgeKind::memory || edge.argument == 0) append_origins(found, edge, v);
            }
        }
        return result = std::move(found);
    }

    std::vector<Origin> origins_of_inputs(VertexId v) {
        std::vector<Origin> found;
        for (const Edge& edge : view_.graph->inputs(v)) {
            if (edge.kind == EdgeKind::memory || !is_overwritten(*view_.graph, edge.source, v)) append_origins(found, edge, no_vertex);
        }
        std::stable_sort(found.begin(), found.end(), [](const Origin& a, const Origin& b) { return a.vertex < b.vertex; });
        return found;
    }

    void append_origins(std::vector<Origin>& found, const Edge& edge, VertexId folded) {
        const bool known = inside_.count(edge.source) != 0 || inputs_.count(edge.source) != 0;
        if (!known || edge.source == edge.target) return;
        for (Origin origin : origins(edge.source)) {
            if (edge.kind == EdgeKind::memory) origin.kind = EdgeKind::memory;
            if (folded != no_vertex) origin.through.push_back(folded);
            const auto same = std::find_if(found.begin(), found.end(), [&](const Origin& o) { return o.vertex == origin.vertex; });
            if (same == found.end()) {
                found.push_back(std::move(origin));
            } else if (same->kind == EdgeKind::memory && origin.kind == EdgeKind::data) {
                *same = std::move(origin);
            }
        }
    }

    const LayerView& view_;
    Fold fold_;
    std::set<VertexId> inside_;
    std::set<VertexId> inputs_;
    std::map<VertexId, std::vector<Origin>> origins_;
};

}  // namespace

Fold fold_named(std::string_view name) { return name == "none" ? Fold::none : Fold::shape; }

bool is_overwritten(const GraphModel& graph, VertexId value, VertexId reader) noexcept {
    const auto edges = graph.inputs(reader);
    return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
        if (edge.kind != EdgeKind::memory || edge.source == value) return false;
        const auto read = graph.inputs(edge.source);
        return std::any_of(read.begin(), read.end(), [&](const Edge& e) { return e.source == value; });
    });
}

FoldedLayer fold_layer(const LayerView& view, Fold fold) { return Folder(view, fold).run(); }

}  // namespace adpipe::render
