#include "sample.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace adpipe;
using namespace adpipe::testing;
using Json = nlohmann::json;

namespace {

const std::string stem = "092_compile_compile_model_layer1";
const std::string hostile = "a\"]; x --> y\n```\n<script>&|#`\xff漢";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string file(const std::string& stage, const std::string& ending, const Sample& sample, const Options& options = {},
                 bool with_trace = true) {
    return rendered(stage, sample, options, with_trace)->files.at(stem + ending);
}

}  // namespace

TEST_CASE("render.csv writes a file a layer, by comma or by tab") {
    const Sample sample = make_sample();
    const std::string csv = file("render.csv", ".csv", sample);
    CHECK(csv.substr(0, 12) == "stack,layer,");
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 13);
    CHECK(has(file("render.csv", ".tsv", sample, {{"separator", std::string{"tab"}}}), "\trms_norm_kernel\t"));
    CHECK(has(file("render.csv", ".csv", sample, {}, false), ",q_1,"));
}

TEST_CASE("render.markdown links the picture, adds up and keeps names text") {
    const std::string page = file("render.markdown", ".md", make_sample());
    CHECK(has(page, "## test · layer 1\n"));
    CHECK(has(page, "](092_compile_compile_model_layer1.svg)"));
    CHECK(has(page, "**sum 58.5 µs · wall 46.5 µs**"));
    CHECK(has(page, "| **sum** | | | | **58.5** |"));
    CHECK(has(page, "on no node: 500 ns, 1 kernel: its range names a module that the dump does not hold"));
    CHECK_FALSE(has(file("render.markdown", ".md", make_sample(hostile, hostile)), "<script>"));
    CHECK_FALSE(has(file("render.markdown", ".md", make_sample(), {{"picture", std::string{"none"}}}), "!["));
}

TEST_CASE("render.mermaid draws blocks, the residual stream and heat") {
    const Sample sample = make_sample();
    const std::string chart = file("render.mermaid", ".mmd", sample);
    const auto id = [&](const char* name) { return "n" + std::to_string(sample.vertex(name)); };
    CHECK(has(chart, "flowchart TB\n"));
    CHECK(has(chart, "[\"Attention\"]"));
    CHECK(has(chart, "  in0 ==> " + id("residual_1") + "\n"));
    CHECK(has(chart, "  " + id("residual_1") + " ==> " + id("sum_1") + "\n"));
    CHECK(has(chart, "  " + id("sum_1") + " ==> out\n"));
    CHECK(has(chart, "  " + id("q_1") + " --> " + id("attention_1") + "\n"));
    CHECK(has(chart, "experts_kernel 20.0 µs"));
    CHECK(has(chart, "classDef heat5 "));
    // Every block that opens is closed.
    std::istringstream lines(chart);
    int open = 0;
    for (std::string line; std::getline(lines, line);) {
        open += has(line, "subgraph ") ? 1 : 0;
        open -= line.find_first_not_of(' ') != std::string::npos && line.substr(line.find_first_not_of(' ')) == "end" ? 1 : 0;
    }
    CHECK(open == 0);
    CHECK(rendered("render.mermaid", sample, {{"fence", true}})->files.begin()->second.substr(0, 11) == "```mermaid\n");
    const std::string blocks = file("render.mermaid", ".mmd", sample, {{"detail", std::string{"blocks"}}});
    CHECK_FALSE(has(blocks, "subgraph"));
    CHECK(has(blocks, "<b>Attention</b><br>24.0 µs · 41.0 %"));
}

TEST_CASE("hostile names stay text in Mermaid") {
    const std::string chart = file("render.mermaid", ".mmd", make_sample(hostile, hostile));
    CHECK_FALSE(has(chart, "<script>"));
    CHECK_FALSE(has(chart, "```"));
    std::istringstream lines(chart);
    for (std::string line; std::getline(lines, line);) CHECK(std::count(line.begin(), line.end(), '"') % 2 == 0);
}

TEST_CASE("a layer beyond Mermaid's limits is drawn coarser, not cut") {
    GraphBuilder builder("big.txt", nullptr);
    builder.begin_module("m", 1);
    std::vector<VertexId> all;
    for (int i = 0; i < 700; ++i) {
        Vertex vertex;
        vertex.name = builder.intern("matmul_" + std::to_string(i));
        vertex.target = "aten.mm.default";
        vertex.op = vertex.target;
        all.push_back(builder.add(vertex).vertex);
        if (i > 0) builder.connect(all[all.size() - 2], all.back(), 0);
    }
    const auto graph = builder.freeze();
    auto layers = std::make_shared<Layers>();
    layers->graph_digest = graph->digest();
    layers->of.resize(graph->size());
    for (Membership& member : layers->of) {
        member.layer = 0;
        member.group = Group::mlp;
    }
    layers->layers.push_back({});
    layers->layers[0].number = 0;
    RecordingContext context;
    context.give<GraphModel>("graph", graph);
    context.give<Layers>("layers", std::shared_ptr<const Layers>{layers});
    context.selection.layers = {0};
    renderer("render.mermaid")->run(context);
    const std::string& chart = context.files.at("big_layer0.mmd");
    CHECK(chart.size() <= 50000);
    CHECK(has(chart, "<b>Feed-forward</b>"));
}

TEST_CASE("the Perfetto trace holds every kernel of every step, and no two slices of a row overlap") {
    const Json trace = Json::parse(file("render.perfetto", "_perfetto.json", make_sample()));
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
    std::map<std::string, int> count;
    std::set<std::string> names;
    for (const Json& event : trace["traceEvents"]) {
        if (event["name"] == "process_name") names.insert(event["args"]["name"].get<std::string>());
        if (event["ph"] != "X") continue;
        ++count[event["cat"].get<std::string>()];
        const double start = event["ts"].get<double>();
        rows[{event["pid"].get<int>(), event["tid"].get<int>()}].push_back({start, start + event["dur"].get<double>()});
    }
    CHECK(names == std::set<std::string>{"test · stream 13", "test · stream 29"});
    CHECK(count["kernel"] == 24);
    CHECK(count["layer"] == 4);
    for (auto& [row, slices] : rows) {
        std::sort(slices.begin(), slices.end());
        for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].first >= slices[i - 1].second - 1e-9);
    }
    CHECK(trace["otherData"]["first_start_ns"] == "1000000");
    CHECK(Json::accept(file("render.perfetto", "_perfetto.json", make_sample(hostile, hostile))));
}

TEST_CASE("in the Perfetto trace an arrow leads from a layer's slice to each of its kernels, both ends inside of a slice") {
    const Json trace = Json::parse(file("render.perfetto", "_perfetto.json", make_sample()));
    // The slice that is open at an arrow's end, as a viewer finds it.
    const auto open_slice = [&](const Json& arrow_end) {
        for (const Json& event : trace["traceEvents"]) {
            if (event["ph"] != "X" || event["pid"] != arrow_end["pid"] || event["tid"] != arrow_end["tid"]) continue;
            const double start = event["ts"].get<double>();
            const double at = arrow_end["ts"].get<double>();
            if (at >= start && at < start + event["dur"].get<double>()) return event["cat"].get<std::string>();
        }
        return std::string{"none"};
    };
    std::map<int, std::string> arrows;
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] != "s" && event["ph"] != "f") continue;
        if (event["ph"] == "f") CHECK(event["bp"] == "e");
        arrows[event["id"].get<int>()] += event["ph"].get<std::string>() + ":" + open_slice(event) + " ";
    }
    CHECK(arrows.size() == 24);
    for (auto& [id, ends] : arrows) CHECK(ends == "s:layer f:kernel ");
}

TEST_CASE("without a trace there is nothing to write for Perfetto") {
    CHECK(error_code_of([] { rendered("render.perfetto", make_sample(), {}, false); }) == "ADP-RND-008");
}

TEST_CASE("Model Explorer's graph has its nodes, edges and namespaces, and its data the same ids") {
    for (const std::string& name : {std::string{"attention_1"}, hostile}) {
        const auto context = rendered("render.model_explorer", make_sample(name, name));
        const Json collection = Json::parse(context->files.at(stem + "_model_explorer.json"));
        REQUIRE(collection["graphs"].size() == 1);
        const Json& graph = collection["graphs"][0];
        CHECK(graph["id"] == "layer_1");
        std::set<std::string> ids;
        for (const Json& node : graph["nodes"]) {
            CHECK(ids.insert(node["id"].get<std::string>()).second);
            CHECK(node["label"].is_string());
            CHECK(node["namespace"].is_string());
            for (const Json& attribute : node["attrs"]) CHECK(attribute["value"].is_string());
        }
        for (const Json& node : graph["nodes"]) {
            for (const Json& edge : node.value("incomingEdges", Json::array())) {
                CHECK(ids.count(edge["sourceNodeId"].get<std::string>()) == 1);
                CHECK(edge["sourceNodeOutputId"].is_string());
                CHECK(edge["targetNodeInputId"].is_string());
            }
        }
        for (const char* ending : {"time", "share", "evidence", "confidence", "category"}) {
            const Json data = Json::parse(context->files.at(stem + "_model_explorer_" + ending + ".json"));
            REQUIRE(data.contains("layer_1"));
            CHECK(data["layer_1"]["results"].size() == 10);
            for (const auto& [id, result] : data["layer_1"]["results"].items()) CHECK(ids.count(id) == 1);
        }
        CHECK(Json::parse(context->files.at(stem + "_model_explorer_time.json"))["layer_1"]["results"]["q_1"]["value"] == 4.0);
        const auto node = [&](const std::string& id) {
            return *std::find_if(graph["nodes"].begin(), graph["nodes"].end(), [&](const Json& n) { return n["id"] == id; });
        };
        CHECK(node("q_1")["namespace"] == "Attention/Q");
    }
    CHECK(rendered("render.model_explorer", make_sample(), {}, false)->files.size() == 1);
}
