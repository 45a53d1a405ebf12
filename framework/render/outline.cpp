#include <adpipe/render/outline.hpp>

#include <adpipe/render/op_facts.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace adpipe::render {

namespace {

std::optional<BlockKind> kind_of(Group group) {
    switch (group) {
        case Group::attention:
        case Group::mla: return BlockKind::attention;
        case Group::moe:
        case Group::mlp: return BlockKind::feed_forward;
        case Group::mamba: return BlockKind::mamba;
        case Group::gdn: return BlockKind::gated_delta_net;
        case Group::norm:
        case Group::other: return {};
    }
    return {};
}

std::string sub_title(const std::string& sub_group) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> titles{{{"q_branch", "Q"},
                                                                                           {"kv_branch", "KV"},
                                                                                           {"rope", "RoPE"},
                                                                                           {"moe_router", "Router"},
                                                                                           {"moe_experts", "Experts"},
                                                                                           {"shared_experts", "Shared experts"},
                                                                                           {"dense_mlp", "Dense MLP"},
                                                                                           {"gdn_conv1d", "Convolution"},
                                                                                           {"gdn_gating", "Gating"},
                                                                                           {"gdn_delta_rule", "Delta rule"},
                                                                                           {"mamba_metadata", "Metadata"},
                                                                                           {"mamba_ssm", "State space"},
                                                                                           {"mamba_gated_norm", "Gated norm"}}};
    for (const auto& [name, title] : titles) {
        if (name == sub_group) return std::string{title};
    }
    std::string title = sub_group;
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

/// Where a node is drawn: kind of block, the branch of the residual stream that it is on, sub-group; or outside of all blocks.
struct Place {
    bool outside = true;
    int segment = 0;
    BlockKind kind = BlockKind::attention;
    std::string sub_group;

    bool same_block(const Place& other) const { return outside == other.outside && segment == other.segment && kind == other.kind; }
    friend bool operator<(const Place& a, const Place& b) {
        return std::tie(a.outside, a.segment, a.kind, a.sub_group) < std::tie(b.outside, b.segment, b.kind, b.sub_group);
    }
};

class Outliner {
public:
    Outliner(const LayerView& view, const FoldedLayer& folded) : view_(view), folded_(folded) {
        for (const FoldedEdge& edge : folded.edges) {
            into_[edge.to].push_back(edge.from);
            out_of_[edge.from].push_back(edge.to);
        }
    }

    Outline run() {
        find_spine();
        find_segments();
        place_by_group();
        place_joins();
        place_by_neighbours();
        build_blocks();
        find_auxiliary();
        return std::move(outline_);
    }

private:
    /// The shortest way from what comes in to what goes out: branches are long, the residual stream only adds.
    void find_spine() {
        std::map<VertexId, VertexId> from;
        std::deque<VertexId> todo;
        for (const ExternalInput& input : folded_.inputs) {
            if (input.kind != InputKind::residual) continue;
            from.emplace(input.vertex, no_vertex);
            todo.push_back(input.vertex);
            entries_.insert(input.vertex);
        }
        std::set<VertexId> goals;
        for (const FoldedEdge& edge : folded_.outputs) goals.insert(edge.from);
        while (!todo.empty()) {
            const VertexId v = todo.front();
            todo.pop_front();
            if (goals.count(v) != 0) {
                for (VertexId at = v; at != no_vertex; at = from[at]) {
                    if (entries_.count(at) == 0) outline_.spine.push_back(at);
                }
                std::reverse(outline_.spine.begin(), outline_.spine.end());
                // Where nearly everything follows each other, as kernels of a trace do, no residual stream can be told.
                if (3 * outline_.spine.size() > 2 * folded_.nodes.size()) outline_.spine.clear();
                return;
            }
            for (const VertexId next : out_of_[v]) {
                if (from.emplace(next, v).second) todo.push_back(next);
            }
        }
    }

    int spine_position(VertexId v) const {
        const auto found = std::find(outline_.spine.begin(), outline_.spine.end(), v);
        return found == outline_.spine.end() ? -1 : static_cast<int>(found - outline_.spine.begin()) + 1;
    }

    /// Numbers the branches by the last node of the spine before them.
    void find_segments() {
        for (const VertexId v : folded_.nodes) {
            int segment = -1;
            for (const VertexId source : into_[v]) {
                const int position = spine_position(source);
                if (position > 0) segment = std::max(segment, position);
                else if (entries_.count(source) != 0) segment = std::max(segment, 0);
                else if (segments_.count(source) != 0) segment = std::max(segment, segments_[source]);
            }
            segments_[v] = segment;
        }
        // What hangs on no spine (keys and values of an encoder's output) goes with its reader.
        for (auto it = folded_.nodes.rbegin(); it != folded_.nodes.rend(); ++it) {
            if (segments_[*it] >= 0) continue;
            for (const VertexId reader : out_of_[*it]) {
                if (segments_[reader] >= 0 && (segments_[*it] < 0 || segments_[reader] < segments_[*it])) {
                    segments_[*it] = segments_[reader];
                }
            }
            segments_[*it] = std::max(segments_[*it], 0);
        }
    }

    void place_by_group() {
        for (const VertexId v : folded_.nodes) {
            if (spine_position(v) > 0) continue;
            const Membership& member = view_.membership(v);
            const auto kind = kind_of(member.group);
            if (!kind || !view_.contains(v)) continue;
            places_[v] = {false, segments_[v], *kind, view_.layers->text(member.sub_group)};
        }
    }

    /// The op that made the value of `v`, behind ops that only change its shape.
    VertexId maker_of(VertexId v) {
        for (int steps = 0; steps < 64 && view_.contains(v) && is_shape_only(*view_.graph, v) && !into_[v].empty(); ++steps) {
            v = into_[v].front();
        }
        return v;
    }

    /// What brings its own branch and another together (attention itself, the sum of the experts) stands below both.
    void place_joins() {
        std::vector<VertexId> joins;
        for (const auto& [v, place] : places_) {
            if (place.sub_group.empty() || is_shape_only(*view_.graph, v)) continue;
            bool from_own = false;
            bool from_other = false;
            for (const VertexId source : into_[v]) {
                const auto made = places_.find(maker_of(source));
                if (made == places_.end() || !made->second.same_block(place) || made->second.sub_group.empty()) continue;
                (made->second.sub_group == place.sub_group ? from_own : from_other) = true;
            }
            if (from_own && from_other) joins.push_back(v);
        }
        for (const VertexId v : joins) places_[v].sub_group.clear();
    }

    std::set<Place> neighbours(VertexId v, std::map<VertexId, std::vector<VertexId>>& next, std::map<VertexId, std::set<Place>>& known) {
        std::set<Place> found;
        for (const VertexId w : next[v]) {
            const auto placed = places_.find(w);
            if (placed != places_.end()) found.insert(placed->second);
            else if (spine_position(w) > 0 || entries_.count(w) != 0) found.insert(Place{});
            else if (known.count(w) != 0) found.insert(known[w].begin(), known[w].end());
        }
        return found;
    }

    /// Norms and nameless arithmetic are drawn where their producers and consumers are, if those agree.
    void place_by_neighbours() {
        std::map<VertexId, std::set<Place>> above;
        std::map<VertexId, std::set<Place>> below;
        for (const VertexId v : folded_.nodes) {
            if (places_.count(v) == 0) above[v] = neighbours(v, into_, above);
        }
        for (auto it = folded_.nodes.rbegin(); it != folded_.nodes.rend(); ++it) {
            if (places_.count(*it) == 0) below[*it] = neighbours(*it, out_of_, below);
        }
        for (const VertexId v : folded_.nodes) {
            if (places_.count(v) != 0 || spine_position(v) > 0 || !view_.contains(v)) continue;
            const bool is_norm = view_.membership(v).group == Group::norm;
            if (auto place = place_between(above[v], below[v], is_norm)) places_[v] = *place;
        }
    }

    static std::optional<Place> common_block(const std::set<Place>& places) {
        if (places.empty() || places.rbegin()->outside) return {};  // "outside" sorts last
        Place common = *places.begin();
        for (const Place& place : places) {
            if (!place.same_block(common)) return {};
            if (place.sub_group != common.sub_group) common.sub_group.clear();
        }
        return common;
    }

    static std::optional<Place> place_between(const std::set<Place>& above, const std::set<Place>& below, bool is_norm) {
        auto up = common_block(above);
        auto down = common_block(below);
        if (up && down && up->same_block(*down)) return up->sub_group.empty() ? down : up;
        // A norm between two blocks, or between a block and the residual stream, stands on its own.
        if (is_norm) return {};
        if (up && !down) {
            up->sub_group.clear();
            return up;
        }
        if (down && !up) {
            down->sub_group.clear();
            return down;
        }
        return {};
    }

    void build_blocks() {
        std::map<std::pair<int, BlockKind>, int> outer;
        std::map<std::tuple<int, BlockKind, std::string>, int> inner;
        for (const VertexId v : folded_.nodes) {
            const auto placed = places_.find(v);
            if (placed == places_.end()) continue;
            const Place& place = placed->second;
            const auto [top, is_new] = outer.try_emplace({place.segment, place.kind}, static_cast<int>(outline_.blocks.size()));
            if (is_new) outline_.blocks.push_back({outer_title(place), place.kind, -1, {}});
            int block = top->second;
            const std::string sub_group = effective_sub_group(place, v);
            if (!sub_group.empty()) {
                const auto [sub, sub_is_new] = inner.try_emplace({place.segment, place.kind, sub_group},
                                                                 static_cast<int>(outline_.blocks.size()));
                if (sub_is_new) outline_.blocks.push_back({sub_title(sub_group), place.kind, block, {}});
                block = sub->second;
            }
            outline_.blocks[static_cast<std::size_t>(block)].nodes.push_back(v);
            outline_.block_of[v] = block;
        }
    }

    bool has_group(const Place& place, Group group) const {
        return std::any_of(places_.begin(), places_.end(), [&](const auto& entry) {
            return entry.second.same_block(place) && view_.membership(entry.first).group == group;
        });
    }

    std::string outer_title(const Place& place) const {
        switch (place.kind) {
            case BlockKind::attention: return has_group(place, Group::mla) ? "Multi-head latent attention" : "Attention";
            case BlockKind::feed_forward: return has_group(place, Group::moe) ? "Mixture of experts" : "Feed-forward";
            case BlockKind::mamba: return "Mamba";
            case BlockKind::gated_delta_net: return "Gated delta net";
        }
        return {};
    }

    /// A dense feed-forward network beside a mixture gets a frame of its own.
    std::string effective_sub_group(const Place& place, VertexId v) const {
        const bool dense_beside_mixture = place.sub_group.empty() && place.kind == BlockKind::feed_forward &&
                                          view_.membership(v).group == Group::mlp && has_group(place, Group::moe);
        return dense_beside_mixture ? "dense_mlp" : place.sub_group;
    }

    /// By the trace where it shows a node's kernels, else by the markers in the graph.
    void find_auxiliary() {
        const std::set<VertexId> marked = between_markers();
        const auto& streams = view_.times.streams;
        for (const VertexId v : folded_.nodes) {
            const auto kernels = view_.kernels_of(v);
            if (!kernels.empty() && !streams.empty()) {
                const std::int64_t stream = view_.kernels[kernels.front()].stream;
                if (stream != streams.front()) outline_.auxiliary[v] = stream;
            } else if (marked.count(v) != 0) {
                outline_.auxiliary[v] = -1;
            }
        }
    }

    /// Ops between the marker where an auxiliary stream begins and the one where it ends.
    std::set<VertexId> between_markers() const {
        std::set<VertexId> after_begin;
        std::set<VertexId> before_end;
        const GraphModel& graph = *view_.graph;
        for (const VertexId v : view_.nodes) {
            for (const Edge& edge : graph.inputs(v)) {
                const bool begins = begins_auxiliary_stream(graph.vertex(edge.source).op);
                const bool inside = after_begin.count(edge.source) != 0 && !ends_auxiliary_stream(graph.vertex(edge.source).op);
                if (begins || inside) after_begin.insert(v);
            }
        }
        for (auto it = view_.nodes.rbegin(); it != view_.nodes.rend(); ++it) {
            for (const Edge& edge : graph.outputs(*it)) {
                const bool ends = ends_auxiliary_stream(graph.vertex(edge.target).op);
                const bool inside = before_end.count(edge.target) != 0 && !begins_auxiliary_stream(graph.vertex(edge.target).op);
                if (ends || inside) before_end.insert(*it);
            }
        }
        std::set<VertexId> between;
        std::set_intersection(after_begin.begin(), after_begin.end(), before_end.begin(), before_end.end(),
                              std::inserter(between, between.end()));
        return between;
    }

    const LayerView& view_;
    const FoldedLayer& folded_;
    std::map<VertexId, std::vector<VertexId>> into_;
    std::map<VertexId, std::vector<VertexId>> out_of_;
    std::set<VertexId> entries_;
    std::map<VertexId, int> segments_;
    std::map<VertexId, Place> places_;
    Outline outline_;
};

std::string section_head(const LayerView& view, const Outline& outline, VertexId v) {
    const int block = outline.block(v);
    if (block >= 0) {
        const Block& inner = outline.blocks[static_cast<std::size_t>(block)];
        if (inner.parent < 0) return inner.title;
        return outline.blocks[static_cast<std::size_t>(inner.parent)].title + " › " + inner.title;
    }
    if (view.membership(v).group == Group::norm) return "Norm";
    return outline.on_spine(v) ? "Residual" : "Other";
}

}  // namespace

int Outline::block(VertexId v) const noexcept {
    const auto found = block_of.find(v);
    return found == block_of.end() ? -1 : found->second;
}

bool Outline::on_spine(VertexId v) const noexcept { return std::find(spine.begin(), spine.end(), v) != spine.end(); }

Outline outline_layer(const LayerView& view, const FoldedLayer& folded) { return Outliner(view, folded).run(); }

std::vector<Section> sections_of(const LayerView& view, const FoldedLayer& folded, const Outline& outline) {
    std::vector<Section> sections;
    for (const VertexId v : folded.nodes) {
        const int block = outline.block(v);
        const std::string head = section_head(view, outline, v);
        // The nodes of a block stay together; those of none follow the order of the text.
        const auto same = std::find_if(sections.begin(), sections.end(), [&](const Section& section) {
            return block >= 0 ? section.block == block : &section == &sections.back() && section.block < 0 && section.head == head;
        });
        if (same != sections.end()) same->nodes.push_back(v);
        else sections.push_back({head, block, {v}});
    }
    return sections;
}

}  // namespace adpipe::render
