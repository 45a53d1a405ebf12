#include <adpipe/model/graph.hpp>

#include <boost/graph/topological_sort.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace adpipe;

namespace {

Vertex op(std::string_view name, std::string_view target) {
    Vertex v;
    v.name = name;
    v.target = target;
    return v;
}

}  // namespace

TEST_CASE("a frozen graph finds vertices by name, per module") {
    GraphBuilder builder("x.txt", nullptr);
    builder.begin_module("one", 1);
    const VertexId a = builder.add(op("a", "aten.add.Tensor")).vertex;
    CHECK_FALSE(builder.add(op("a", "aten.mul.Tensor")).is_new);
    builder.begin_module("two", 2);
    const VertexId other = builder.add(op("a", "aten.mul.Tensor")).vertex;
    for (int i = 0; i < 5000; ++i) builder.add(op(builder.intern("n" + std::to_string(i)), "f"));
    const auto graph = builder.freeze();
    CHECK(graph->find("a") == a);
    CHECK(graph->find("a", std::uint16_t{1}) == other);
    CHECK(graph->find("n4999").has_value());
    CHECK_FALSE(graph->find("b").has_value());
    CHECK(graph->modules()[1].begin == other);
    CHECK(graph->modules()[1].end == graph->size());
}

TEST_CASE("inputs come in argument order, and Boost.Graph's algorithms run on the model") {
    GraphBuilder builder("x.txt", nullptr);
    const VertexId a = builder.add(op("a", "f")).vertex;
    const VertexId b = builder.add(op("b", "f")).vertex;
    const VertexId c = builder.add(op("c", "g")).vertex;
    builder.connect(b, c, 1);
    builder.connect(a, c, 0);
    builder.connect(a, b, 0);
    const auto graph = builder.freeze();
    REQUIRE(graph->inputs(c).size() == 2);
    CHECK(graph->inputs(c)[0].source == a);
    CHECK(graph->inputs(c)[1].source == b);
    std::vector<VertexId> reversed;
    boost::topological_sort(*graph, std::back_inserter(reversed), boost::vertex_index_map(get(boost::vertex_index, *graph)));
    CHECK(reversed == std::vector<VertexId>{c, b, a});
}

TEST_CASE("what reads an operand after an in-place op depends on that op") {
    GraphBuilder builder("x.txt", nullptr);
    const VertexId x = builder.add(op("x", "f")).vertex;
    const VertexId early = builder.add(op("early", "g")).vertex;
    const VertexId write = builder.add(op("write", "aten.add_.Tensor")).vertex;
    const VertexId late = builder.add(op("late", "g")).vertex;
    builder.connect(x, early, 0);
    builder.connect(x, write, 0);
    builder.connect(x, late, 0);
    const auto graph = builder.freeze();
    CHECK(graph->inputs(early).size() == 1);
    REQUIRE(graph->inputs(late).size() == 2);
    CHECK(graph->inputs(late)[1].source == write);
    CHECK(graph->inputs(late)[1].kind == EdgeKind::memory);
}

TEST_CASE("printed types split where symbolic dimensions hold parentheses, commas and x") {
    Vertex v;
    v.shape = "(2x4x7168, s44x4xMin(16, s70)x16)";
    v.dtype = "(torch.bfloat16, torch.int32)";
    const auto types = output_types(v);
    REQUIRE(types.size() == 2);
    CHECK(types[1].shape == "s44x4xMin(16, s70)x16");
    CHECK(types[1].dtype == "torch.int32");
    CHECK(split_dimensions(types[1].shape) == std::vector<std::string_view>{"s44", "4", "Min(16, s70)", "16"});
    CHECK(split_dimensions("(s44//4)x256") == std::vector<std::string_view>{"(s44//4)", "256"});
    CHECK(split_dimensions("s44x128xs70 + 3") == std::vector<std::string_view>{"s44", "128", "s70 + 3"});
    CHECK(split_dimensions("scalar").empty());
    v.shape = "(s44//4)x256";
    v.dtype = "torch.bfloat16";
    CHECK(output_types(v).size() == 1);
    v.shape = "(2x4x7168)";
    v.dtype = "(torch.bfloat16)";
    REQUIRE(output_types(v).size() == 1);
    CHECK(output_types(v)[0].shape == "2x4x7168");
}

TEST_CASE("an op's name is its target without wrapping and addresses") {
    CHECK(op_name("aten.add.Tensor") == "aten.add.Tensor");
    CHECK(op_name("<built-in function getitem>") == "getitem");
    CHECK(op_name("<built-in method eq of type object at 0x7f00>") == "eq");
    CHECK(op_name("<function _insert_fused_gemm.<locals>.split_output at 0x7f00>") == "_insert_fused_gemm.<locals>.split_output");
    CHECK(op_name("<locals>") == "<locals>");
    CHECK(op_name("") == "");
}

TEST_CASE("only ops that write in place are taken for such") {
    CHECK(in_place_arguments("aten.copy_.default").size() == 1);
    CHECK(in_place_arguments("auto_deploy.flashinfer_fused_add_rms_norm_inplace.default").size() == 2);
    CHECK(in_place_arguments("aten.add.Tensor").empty());
    CHECK(in_place_arguments("__and__").empty());
    CHECK(in_place_arguments("getitem").empty());
}

TEST_CASE("a write through a view is seen by readers of the whole, but not by views made afterwards") {
    GraphBuilder builder("test", nullptr);
    builder.begin_module("(root)", 1);
    const auto add = [&](std::string_view name, std::string_view target, std::vector<VertexId> sources) {
        Vertex vertex;
        vertex.name = name;
        vertex.target = target;
        vertex.kind = target.empty() ? VertexKind::placeholder : VertexKind::op;
        const VertexId v = builder.add(vertex).vertex;
        for (std::uint32_t i = 0; i < sources.size(); ++i) builder.connect(sources[i], v, i);
        return v;
    };
    const VertexId x = add("x", "", {});
    const VertexId whole = add("whole", "aten.empty.memory_format", {x});
    const VertexId left = add("left", "aten.slice.Tensor", {whole});
    const VertexId copied = add("copied", "aten.copy_.default", {left, x});
    const VertexId reader = add("reader", "aten.relu.default", {whole});
    const VertexId again = add("again", "aten.slice.Tensor", {whole});
    const VertexId late = add("late", "aten.relu.default", {again});
    const auto graph = builder.freeze();
    REQUIRE(graph->inputs(reader).size() == 2);
    CHECK(graph->inputs(reader)[1].source == copied);
    CHECK(graph->inputs(reader)[1].kind == EdgeKind::memory);
    CHECK(graph->inputs(again).size() == 2);
    CHECK(graph->inputs(late).size() == 1);
}
