#include <adpipe/model/trace_index.hpp>

#include <doctest/doctest.h>

using namespace adpipe;

namespace {

void add_range(Annotations& ranges, std::uint64_t thread, Nanoseconds start, Nanoseconds end) {
    ranges.start.push_back(start);
    ranges.end.push_back(end);
    ranges.name.push_back(0);
    ranges.process.push_back(0);
    ranges.thread.push_back(thread);
    ranges.source.push_back(Annotations::Source::nvtx);
}

void add_node(GraphNodes& nodes, Nanoseconds time, std::uint64_t node, std::uint64_t original, std::uint16_t process = 0) {
    nodes.time.push_back(time);
    nodes.process.push_back(process);
    nodes.thread.push_back(7);
    nodes.node.push_back(node);
    nodes.original.push_back(original);
}

}  // namespace

TEST_CASE("a range index finds the innermost open range of a thread") {
    Annotations ranges;
    add_range(ranges, 1, 0, 100);   // 0
    add_range(ranges, 1, 10, 50);   // 1
    add_range(ranges, 1, 20, 30);   // 2
    add_range(ranges, 2, 0, 1000);  // 3
    const RangeIndex index(ranges);
    CHECK(index.innermost(1, 25) == 2);
    CHECK(index.innermost(1, 30) == 2);  // ends are included
    CHECK(index.innermost(1, 40) == 1);
    CHECK(index.innermost(1, 60) == 0);
    CHECK(index.innermost(1, 101) == RangeIndex::none);
    CHECK(index.innermost(1, -1) == RangeIndex::none);
    CHECK(index.innermost(2, 25) == 3);
    CHECK(index.innermost(3, 25) == RangeIndex::none);
    CHECK(index.parent(2) == 1);
    CHECK(index.parent(0) == RangeIndex::none);
}

TEST_CASE("a range that begins where another ends is not inside of it, unless it ends there as well") {
    Annotations ranges;
    add_range(ranges, 1, 0, 100);  // 0
    add_range(ranges, 1, 10, 50);  // 1
    add_range(ranges, 1, 50, 80);  // 2: follows it
    add_range(ranges, 1, 60, 80);  // 3
    add_range(ranges, 1, 80, 80);  // 4: empty, at the end of both
    const RangeIndex index(ranges);
    CHECK(index.parent(2) == 0);
    CHECK(index.parent(3) == 2);
    CHECK(index.parent(4) == 3);
    CHECK(index.innermost(1, 50) == 2);
    CHECK(index.innermost(1, 80) == 4);
    CHECK(index.innermost(1, 90) == 0);
}

TEST_CASE("a launch index takes the last call of a reused id before the kernel, and never another process's") {
    Trace trace;
    const auto add_call = [&](std::uint16_t process, std::uint64_t correlation, Nanoseconds start) {
        trace.launches.start.push_back(start);
        trace.launches.end.push_back(start + 1);
        trace.launches.name.push_back(0);
        trace.launches.process.push_back(process);
        trace.launches.thread.push_back(0);
        trace.launches.correlation.push_back(correlation);
    };
    add_call(0, 5, 100);
    add_call(0, 5, 900);
    add_call(1, 5, 300);
    const LaunchIndex index(trace);
    CHECK(index.find(0, 5, 200) == 0);
    CHECK(index.find(0, 5, 1000) == 1);
    CHECK(index.find(1, 5, 400) == 2);
    CHECK(index.find(0, 5, 50) == LaunchIndex::none);
    CHECK(index.find(0, 6, 500) == LaunchIndex::none);
}

TEST_CASE("lineage follows clones of clones to the node made at capture") {
    GraphNodes nodes;
    add_node(nodes, 10, 1, no_id);    // captured
    add_node(nodes, 20, 101, 1);      // clone
    add_node(nodes, 30, 201, no_id);  // an executable graph's node: created …
    add_node(nodes, 31, 201, 101);    // … as the clone of the clone
    const Lineage lineage(nodes);
    const NodeOrigin origin = lineage.origin(0, 201);
    CHECK(origin.state == NodeOrigin::State::known);
    CHECK(origin.node == 1);
    CHECK(origin.time == 10);
    CHECK(origin.thread == 7);
    CHECK(lineage.origin(1, 201).state == NodeOrigin::State::unrecorded);  // numbers are per process
    CHECK(lineage.origin(0, 999).state == NodeOrigin::State::unrecorded);
}

TEST_CASE("lineage names both originals of a damaged node, and does not follow a link into the future") {
    GraphNodes nodes;
    add_node(nodes, 10, 1, no_id);
    add_node(nodes, 11, 2, no_id);
    add_node(nodes, 30, 201, 1);
    add_node(nodes, 40, 201, 2);  // claims another original as well
    add_node(nodes, 31, 202, 2);
    add_node(nodes, 41, 2, 202);  // a ring: the original as the clone of its own clone
    const Lineage lineage(nodes);
    const NodeOrigin origin = lineage.origin(0, 201);
    CHECK(origin.state == NodeOrigin::State::ambiguous);
    CHECK(origin.candidates == std::vector<std::uint64_t>{1, 2});
    CHECK(lineage.origin(0, 202).state == NodeOrigin::State::known);
    CHECK(lineage.origin(0, 202).node == 2);
}

TEST_CASE("lineage survives a ring of nodes that were all made at the same moment") {
    GraphNodes nodes;
    add_node(nodes, 10, 1, 2);
    add_node(nodes, 10, 2, 1);
    const Lineage lineage(nodes);
    CHECK(lineage.origin(0, 1).state == NodeOrigin::State::ring);
}
