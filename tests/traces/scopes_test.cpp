// What the ranges around a launch tell of the op.

#include "scopes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace adpipe;
using namespace adpipe::align;

namespace {

constexpr std::uint64_t thread = 7;

/// A cast and a linear layer, and a recording of a program that called them one after the other, in a range of its own.
struct EagerRun {
    EagerRun() {
        GraphBuilder builder("calls.txt", nullptr);
        builder.begin_module("model", 1);
        op(builder, "to_1", "aten.to.dtype");
        op(builder, "linear_1", "auto_deploy.torch_linear_simple.default");
        graph = builder.freeze();
        layers.of.resize(graph->size());
        range("forward", Annotations::Source::user, 0, 100);
        range("aten::to", Annotations::Source::cpu_op, 10, 20);
        range("aten::copy_", Annotations::Source::cpu_op, 12, 18);
        range("auto_deploy::torch_linear_simple", Annotations::Source::cpu_op, 30, 40);
        range("aten::to", Annotations::Source::cpu_op, 32, 36);
        range("aten::relu", Annotations::Source::cpu_op, 50, 60);
    }

    static void op(GraphBuilder& builder, std::string_view name, std::string_view target) {
        Vertex vertex;
        vertex.name = name;
        vertex.target = target;
        builder.add(vertex);
    }

    void range(const std::string& name, Annotations::Source source, Nanoseconds start, Nanoseconds end) {
        Annotations& ranges = trace.annotations;
        ranges.name.push_back(trace.string_id(name));
        ranges.source.push_back(source);
        ranges.start.push_back(start);
        ranges.end.push_back(end);
        ranges.thread.push_back(thread);
        ranges.process.push_back(0);
    }

    std::shared_ptr<const GraphModel> graph;
    Layers layers;
    Trace trace;
};

}  // namespace

TEST_CASE("a kernel launched by a call that the graph makes too is that of an op which makes this call") {
    const EagerRun run;
    const RangeIndex ranges(run.trace.annotations);
    const OpTable ops(*run.graph, run.layers);
    ScopeTable scopes(run.trace, ranges, ops, ScopeTable::Calls::used);
    const std::uint32_t to = ops.find("to_1");
    const std::uint32_t linear = ops.find("linear_1");
    const std::uint32_t in_cast = scopes.at(thread, 15);
    CHECK(scopes[in_cast].call == "aten.to");
    CHECK(scopes.fit(in_cast, to) == 0);
    CHECK(scopes.fit(in_cast, linear) < -5);
    // The call inside another is the other's matter.
    CHECK(scopes[scopes.at(thread, 34)].call == "auto_deploy.torch_linear_simple");
    CHECK(scopes.fit(scopes.at(thread, 34), to) < -5);
    // The graph has no such call, or there is none.
    CHECK(scopes.at(thread, 55) == ScopeTable::nothing);
    CHECK(scopes.at(thread, 80) == ScopeTable::nothing);
    CHECK(scopes.without_call(in_cast) == ScopeTable::nothing);
}

TEST_CASE("calls count for nothing where they are not asked for") {
    const EagerRun run;
    const RangeIndex ranges(run.trace.annotations);
    const OpTable ops(*run.graph, run.layers);
    ScopeTable scopes(run.trace, ranges, ops, ScopeTable::Calls::ignored);
    CHECK(scopes.at(thread, 15) == ScopeTable::nothing);
}
