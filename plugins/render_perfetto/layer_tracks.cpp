#include "layer_tracks.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace adpipe::render_perfetto {

namespace {

using render::KernelUse;
using render::LayerView;

constexpr int lanes_per_row = 1000;

std::string json_string(std::string_view text) { return nlohmann::json(render::visible_text(text)).dump(); }

std::string_view row_name(Row row) {
    switch (row) {
        case Row::layer: return "layer";
        case Row::group: return "group";
        case Row::node: return "node";
        case Row::kernel: return "kernel";
    }
    return {};
}

/// Microseconds with all nanoseconds, without passing through a binary fraction.
std::string microseconds(Nanoseconds ns) {
    std::string text = std::to_string(ns / 1000) + ".";
    const std::string rest = std::to_string(ns % 1000);
    return text + std::string(3 - rest.size(), '0') + rest;
}

/// Puts each slice into the first lane where it overlaps none.
std::vector<std::vector<const Slice*>> lanes_of(const std::vector<Slice>& slices) {
    std::vector<const Slice*> sorted;
    for (const Slice& slice : slices) sorted.push_back(&slice);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Slice* a, const Slice* b) { return a->start != b->start ? a->start < b->start : a->end > b->end; });
    std::vector<std::vector<const Slice*>> lanes;
    for (const Slice* slice : sorted) {
        const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const auto& lane) { return lane.back()->end <= slice->start; });
        if (free != lanes.end()) free->push_back(slice);
        else lanes.push_back({slice});
    }
    return lanes;
}

/// The events of a trace, each an object on a line of its own.
class EventWriter {
public:
    /// Times are written from `base` on.
    explicit EventWriter(Nanoseconds base) : base_(base) {}

    void add_process(int pid, const std::string& name) {
        add_metadata("process_name", pid, 0, R"("name":)" + json_string(name));
        add_metadata("process_sort_index", pid, 0, R"("sort_index":)" + std::to_string(pid));
        layer_lanes_.clear();
    }

    /// The row of layers first: arrows start there.
    void add_row(int pid, Row row, const std::vector<Slice>& slices) {
        const auto lanes = lanes_of(slices);
        if (row == Row::layer) layer_lanes_.assign(slices.size(), 0);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            const int tid = (static_cast<int>(row) + 1) * lanes_per_row + static_cast<int>(lane);
            const std::string name = std::string{row_name(row)} + (lane == 0 ? "" : " " + std::to_string(lane + 1));
            add_metadata("thread_name", pid, tid, R"("name":)" + json_string(name));
            add_metadata("thread_sort_index", pid, tid, R"("sort_index":)" + std::to_string(tid));
            for (const Slice* slice : lanes[lane]) {
                add_slice(*slice, row, pid, tid);
                if (row == Row::layer) layer_lanes_[static_cast<std::size_t>(slice - slices.data())] = tid;
                if (row == Row::kernel) add_arrow(*slice, pid, tid);
            }
        }
    }

    std::string text() const {
        std::string out;
        for (std::size_t i = 0; i < events_.size(); ++i) out += events_[i] + (i + 1 < events_.size() ? ",\n" : "\n");
        return out;
    }

private:
    static std::string place(int pid, int tid) { return R"(,"pid":)" + std::to_string(pid) + R"(,"tid":)" + std::to_string(tid); }

    void add_metadata(std::string_view what, int pid, int tid, const std::string& arguments) {
        events_.push_back(R"({"ph":"M","name":")" + std::string{what} + '"' + place(pid, tid) + R"(,"args":{)" + arguments + "}}");
    }

    void add_slice(const Slice& slice, Row row, int pid, int tid) {
        std::string event = R"({"ph":"X","name":)" + json_string(slice.name) + R"(,"cat":")" + std::string{row_name(row)} + '"' +
                            place(pid, tid) + R"(,"ts":)" + microseconds(slice.start - base_) + R"(,"dur":)" +
                            microseconds(slice.end - slice.start) + R"(,"args":{)";
        for (std::size_t i = 0; i < slice.arguments.size(); ++i) {
            event += (i == 0 ? "" : ",") + json_string(slice.arguments[i].first) + ":" + json_string(slice.arguments[i].second);
        }
        events_.push_back(event + "}}");
    }

    /// Both ends lie at the kernel's start, which is inside of its layer's slice: viewers bind an end to the slice that is open there.
    void add_arrow(const Slice& kernel, int pid, int tid) {
        const std::string common = R"("name":"in layer","cat":"layer_kernel","id":)" + std::to_string(++arrows_) + R"(,"ts":)" +
                                   microseconds(kernel.start - base_);
        events_.push_back(R"({"ph":"s",)" + common + place(pid, layer_lanes_[kernel.layer]) + "}");
        events_.push_back(R"({"ph":"f","bp":"e",)" + common + place(pid, tid) + "}");
    }

    Nanoseconds base_;
    std::vector<std::string> events_;
    std::vector<int> layer_lanes_;  ///< thread id by slice of the stream's layers
    int arrows_ = 0;
};

}  // namespace

struct Tracks::Execution {
    const KernelUse* use = nullptr;
    std::uint32_t kernel = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::string group;
};

void Tracks::add(const LayerView& view) {
    const render::FoldedLayer folded = render::fold_layer(view, render::Fold::shape);
    const render::Outline outline = render::outline_layer(view, folded);
    std::map<VertexId, std::string> group_of;
    for (const render::Section& section : render::sections_of(view, folded, outline)) {
        for (const VertexId v : section.nodes) group_of[v] = section.head;
    }
    const Trace& trace = view.trace();
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Execution>> by_step_and_stream;
    for (const KernelUse& use : view.kernels) {
        for (const std::uint32_t kernel : use.executions) {
            const auto group = group_of.find(use.node);
            by_step_and_stream[{view.attribution->window->step_of_kernel[kernel], use.stream}].push_back(
                {&use, kernel, trace.kernels.start[kernel], trace.kernels.end[kernel],
                 group == group_of.end() ? "on no node" : group->second});
        }
    }
    for (auto& [key, executions] : by_step_and_stream) {
        std::stable_sort(executions.begin(), executions.end(), [](const Execution& a, const Execution& b) { return a.start < b.start; });
        add_runs(view, key.second, executions);
    }
}

/// Kernels that follow each other and belong to the same node, group or layer make one slice of it.
void Tracks::add_runs(const LayerView& view, std::int64_t stream, const std::vector<Execution>& executions) {
    const auto extend = [&](Row row, bool same_as_before, const std::string& name, const Execution& execution) -> Slice& {
        std::vector<Slice>& slices = rows_[{stream, row}];
        if (!same_as_before) slices.push_back({name, execution.start, execution.end, {}});
        slices.back().end = std::max(slices.back().end, execution.end);
        return slices.back();
    };
    const Execution* before = nullptr;
    for (const Execution& execution : executions) {
        const bool same_group = before != nullptr && before->group == execution.group;
        const bool same_node = before != nullptr && before->use->node == execution.use->node;
        extend(Row::layer, before != nullptr, render::layer_title(view, ""), execution);
        extend(Row::group, same_group, execution.group, execution);
        const VertexId node = execution.use->node;
        if (node != no_vertex) {
            Slice& slice = extend(Row::node, same_node, render::label_node(view, node).title, execution);
            if (!same_node)
                slice.arguments = {{"name", std::string{view.graph->vertex(node).name}},
                                   {"op", std::string{view.graph->vertex(node).target}}};
        }
        Slice& kernel = extend(Row::kernel, false, execution.use->name, execution);
        kernel.layer = rows_[{stream, Row::layer}].size() - 1;
        kernel.arguments = {{"name", view.trace().string(execution.use->full_name)},
                            {"evidence", std::string{evidence_text(execution.use->evidence)}},
                            {"reason", view.attribution->texts[execution.use->reason]},
                            {"node", node == no_vertex ? "-" : std::string{view.graph->vertex(node).name}},
                            {"start_ns", std::to_string(execution.start)}};
        before = &execution;
    }
}

std::string Tracks::json(const std::string& title, const std::string& source) const {
    Nanoseconds base = std::numeric_limits<Nanoseconds>::max();
    for (const auto& [key, slices] : rows_) {
        for (const Slice& slice : slices) base = std::min(base, slice.start);
    }
    EventWriter events(base);
    std::map<std::int64_t, int> pids;
    for (const auto& [key, slices] : rows_) {
        const auto [pid, is_new] = pids.try_emplace(key.first, static_cast<int>(pids.size()) + 1);
        if (is_new) events.add_process(pid->second, title + " · stream " + (key.first < 0 ? "?" : std::to_string(key.first)));
        events.add_row(pid->second, key.second, slices);
    }
    return R"({"displayTimeUnit":"ns","otherData":{"title":)" + json_string(title) + R"(,"source":)" + json_string(source) +
           R"(,"first_start_ns":")" + std::to_string(rows_.empty() ? 0 : base) + "\"},\n\"traceEvents\":[\n" + events.text() + "]}\n";
}

}  // namespace adpipe::render_perfetto
