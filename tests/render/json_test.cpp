#include "sample.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::testing;
using Json = nlohmann::json;

namespace {

enum class Is { text, whole, number, array, object, whole_or_null };

struct Key {
    const char* name;
    Is type;
    bool required = true;
};

bool has_type(const Json& value, Is type) {
    switch (type) {
        case Is::text: return value.is_string();
        case Is::whole: return value.is_number_integer();
        case Is::number: return value.is_number();
        case Is::array: return value.is_array();
        case Is::object: return value.is_object();
        case Is::whole_or_null: return value.is_number_integer() || value.is_null();
    }
    return false;
}

/// What is wrong with an object: missing keys, wrong types, keys that the format does not have and that do not begin with x_.
void check_keys(const Json& object, const std::vector<Key>& keys, const std::string& where, std::vector<std::string>& faults) {
    for (const Key& key : keys) {
        if (!object.contains(key.name)) {
            if (key.required) faults.push_back(where + ": no " + key.name);
        } else if (!has_type(object[key.name], key.type)) {
            faults.push_back(where + ": type of " + key.name);
        }
    }
    for (const auto& [name, value] : object.items()) {
        bool known = name.rfind("x_", 0) == 0;
        for (const Key& key : keys) known = known || name == key.name;
        if (!known) faults.push_back(where + ": unknown key " + name);
    }
}

const std::set<std::string> groups{"norm", "attention", "mla", "moe", "mlp", "mamba", "gdn", "other"};

std::set<std::string> ids_of(const Json& layer) {
    std::set<std::string> ids;
    for (const char* list : {"nodes", "external_inputs"}) {
        for (const Json& entry : layer[list]) ids.insert(entry["id"].get<std::string>());
    }
    return ids;
}

/// Faults of a layer JSON, after the description of the format; empty if it is right.
std::vector<std::string> layer_faults(const Json& layer, bool with_trace) {
    std::vector<std::string> faults;
    check_keys(layer,
               {{"layer", Is::whole},
                {"source_file", Is::text},
                {"nodes", Is::array},
                {"edges", Is::array},
                {"external_inputs", Is::array},
                {"trace_summary", Is::object, with_trace}},
               "top", faults);
    if (!faults.empty()) return faults;
    const std::set<std::string> ids = ids_of(layer);
    for (const Json& node : layer["nodes"]) {
        check_keys(node,
                   {{"id", Is::text},
                    {"op", Is::text},
                    {"shape", Is::text},
                    {"dtype", Is::text},
                    {"group", Is::text},
                    {"sub_group", Is::text, false},
                    {"inputs", Is::array},
                    {"weight_inputs", Is::array},
                    {"trace_kernels", Is::array, with_trace}},
                   "node", faults);
        if (groups.count(node["group"].get<std::string>()) == 0) faults.push_back("group " + node["group"].get<std::string>());
        for (const Json& input : node["inputs"]) {
            if (ids.count(input.get<std::string>()) == 0) faults.push_back("input " + input.get<std::string>() + " is nowhere");
        }
        for (const Json& weight : node["weight_inputs"]) {
            check_keys(weight, {{"name", Is::text}, {"shape", Is::text}, {"dtype", Is::text}}, "weight", faults);
        }
        for (const Json& kernel : node.value("trace_kernels", Json::array())) {
            check_keys(kernel, {{"kernel", Is::text}, {"duration_us", Is::number}}, "kernel", faults);
        }
    }
    for (const Json& edge : layer["edges"]) {
        check_keys(edge, {{"from", Is::text}, {"to", Is::text}}, "edge", faults);
        for (const char* end : {"from", "to"}) {
            if (ids.count(edge[end].get<std::string>()) == 0) faults.push_back("edge's " + edge[end].get<std::string>() + " is nowhere");
        }
    }
    for (const Json& input : layer["external_inputs"]) {
        check_keys(input, {{"id", Is::text}, {"label", Is::text}, {"shape", Is::text}}, "external input", faults);
    }
    if (with_trace) {
        check_keys(layer["trace_summary"], {{"total_duration_us", Is::number}, {"kernel_count", Is::whole}, {"num_streams", Is::whole}},
                   "summary", faults);
    }
    return faults;
}

std::vector<std::string> kernels_faults(const Json& file) {
    std::vector<std::string> faults;
    check_keys(file,
               {{"source", Is::text},
                {"graph_id", Is::whole_or_null},
                {"unique_graph_nodes", Is::whole},
                {"num_replays", Is::whole},
                {"num_layers_detected", Is::whole},
                {"layers", Is::object}},
               "top", faults);
    for (const auto& [number, layer] : file["layers"].items()) {
        check_keys(layer,
                   {{"layer", Is::whole},
                    {"num_streams", Is::whole},
                    {"stream_ids", Is::array},
                    {"kernel_count", Is::whole},
                    {"total_duration_ns", Is::whole},
                    {"total_duration_us", Is::number},
                    {"kernels", Is::array}},
                   "layer", faults);
        if (std::to_string(layer["layer"].get<int>()) != number) faults.push_back("layer's key");
        std::int64_t sum = 0;
        std::size_t index = 0;
        for (const Json& kernel : layer["kernels"]) {
            check_keys(kernel,
                       {{"index", Is::whole},
                        {"kernel", Is::text},
                        {"full_name", Is::text},
                        {"duration_ns", Is::whole},
                        {"duration_us", Is::number},
                        {"stream_id", Is::whole}},
                       "kernel", faults);
            if (kernel["index"] != index++) faults.push_back("index");
            sum += kernel["duration_ns"].get<std::int64_t>();
        }
        if (sum != layer["total_duration_ns"]) faults.push_back("kernels do not add up");
        if (index != layer["kernel_count"]) faults.push_back("kernel_count");
    }
    return faults;
}

const char* const layer_file = "092_compile_compile_model_layer1.json";
const char* const kernels_file = "092_compile_compile_model_layer1_kernels.json";

Json layer_of(const RecordingContext& context) { return Json::parse(context.files.at(layer_file)); }

}  // namespace

TEST_CASE("the layer JSON is of its format, with and without a trace") {
    const Sample sample = make_sample();
    for (const bool with_trace : {true, false}) {
        const auto context = rendered("render.json", sample, {}, with_trace);
        CHECK(layer_faults(layer_of(*context), with_trace) == std::vector<std::string>{});
        CHECK(context->files.count(kernels_file) == (with_trace ? 1U : 0U));
    }
}

TEST_CASE("the check of the format finds faults") {
    Json layer = layer_of(*rendered("render.json", make_sample()));
    layer["nodes"][0]["inputs"].push_back("nobody");
    layer["edges"][0].erase("to");
    layer["edges"][0]["to"] = "nobody";
    layer["nodes"][1]["colour"] = "red";
    layer["trace_summary"]["kernel_count"] = 1.5;
    CHECK(layer_faults(layer, true).size() == 4);
}

TEST_CASE("the layer JSON holds what the layer holds") {
    const Json layer = layer_of(*rendered("render.json", make_sample()));
    CHECK(layer["layer"] == 1);
    CHECK(layer["source_file"] == "092_compile_compile_model.txt");
    CHECK(layer["nodes"].size() == 16);
    CHECK(layer["trace_summary"]["total_duration_us"] == 58.5);
    CHECK(layer["trace_summary"]["kernel_count"] == 12);
    CHECK(layer["trace_summary"]["num_streams"] == 2);
    CHECK(layer["trace_summary"]["x_attributed_ns"].get<int>() + layer["trace_summary"]["x_unattributed_ns"].get<int>() == 58500);
    const Json& q = layer["nodes"][4];
    CHECK(q["id"] == "q_1");
    CHECK(q["op"] == "auto_deploy.torch_linear_simple.default");
    CHECK(q["sub_group"] == "q_branch");
    CHECK(q["inputs"] == Json::array({"norm_1"}));
    CHECK(q["weight_inputs"] ==
          Json::array({{{"name", "model_layers_1_self_attn_q_proj_weight"}, {"shape", "8x8"}, {"dtype", "torch.bfloat16"}}}));
    CHECK(q["trace_kernels"][0]["kernel"] == "gemm_kernel");
    CHECK(q["trace_kernels"][0]["duration_us"] == 3.0);
    CHECK(q["trace_kernels"][1]["kernel"] == "splitKreduce_kernel");
    CHECK(layer["nodes"][14]["x_shared_kernels"][0]["counted_on"] == "sum_1");
    CHECK(layer["external_inputs"][0] ==
          Json{{"id", "sum_0"}, {"label", "Layer 0 residual output"}, {"shape", "2x4x8"}, {"x_dtype", "torch.bfloat16"}});
}

TEST_CASE("the kernels JSON is of its format and adds up") {
    const Json file = Json::parse(rendered("render.json", make_sample())->files.at(kernels_file));
    CHECK(kernels_faults(file) == std::vector<std::string>{});
    CHECK(file["source"] == "decode.sqlite");
    CHECK(file["graph_id"] == 5);
    CHECK(file["num_replays"] == 2);
    CHECK(file["num_layers_detected"] == 1);
    CHECK(file["unique_graph_nodes"] == 13);
    const Json& layer = file["layers"]["1"];
    CHECK(layer["kernel_count"] == 12);
    CHECK(layer["total_duration_ns"] == 58500);
    CHECK(layer["stream_ids"] == Json::array({13, 29}));
    CHECK(layer["kernels"][0]["kernel"] == "rms_norm_kernel");
    CHECK(layer["kernels"][0]["x_node"] == "norm_1");
    CHECK(layer["kernels"][11]["x_node"].is_null());
    CHECK(layer["kernels"][1]["full_name"] == "void lib::gemm_kernel<1>(int)");
}

TEST_CASE("metrics of analysis stages are on their nodes") {
    const Sample sample = make_sample();
    auto metrics = std::make_shared<Metrics>();
    metrics->graph_digest = sample.graph->digest();
    metrics->columns.push_back({"flops", "FLOP", "", std::vector<double>(sample.graph->size(), 0.0 / 0.0)});
    metrics->columns[0].by_vertex[sample.vertex("q_1")] = 1e9;
    auto context = sample.context();
    context->give<Metrics>("metrics", metrics);
    renderer("render.json")->run(*context);
    const Json layer = layer_of(*context);
    CHECK(layer["nodes"][4]["x_metrics"] == Json{{"flops", {{"value", 1e9}, {"unit", "FLOP"}}}});
    CHECK_FALSE(layer["nodes"][3].contains("x_metrics"));
}

TEST_CASE("hostile names stay text in JSON") {
    const std::string name = "a\"</script>\\\n\xff{}漢";
    const auto context = rendered("render.json", make_sample(name, "k\"\\\x01\xc3(int)"));
    const Json layer = layer_of(*context);
    CHECK(layer_faults(layer, true) == std::vector<std::string>{});
    CHECK(layer["nodes"][6]["id"] == "a\"</script>\\\\n\\xff{}漢");
}
