#include "sample.hpp"

#include <adpipe/render/text.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t begin = 0;
    for (std::size_t at = line.find('\t'); at != std::string::npos; at = line.find('\t', begin)) {
        fields.push_back(line.substr(begin, at - begin));
        begin = at + 1;
    }
    fields.push_back(line.substr(begin));
    return fields;
}

const char* const report = R"(test · layer 1
nodes   16 nodes: attention 7, moe 4, norm 2, other 2, mlp 1
in      %sum_0  2x4x8 bf16  Layer 0 residual output
        batch metadata, KV cache, RoPE cos/sin
out     %sum_1  2x4x8 bf16  behind the last layer
window  graph 5, batch size 8: 2 of 3 replays, 1 cut off at the start
shown   decode · batch size 8 · median of 2 replays, in µs

node                    kernel               stream median   min   max  share          evidence
Norm                                                  2.00              3.4 %
  input_layernorm       rms_norm_kernel          13   2.00  2.00  2.00  3.4 % ▊        lineage
Attention › KV                                        4.00              6.8 %
  kv_proj               gemm_kernel              29   4.00  4.00  4.00  6.8 % █▋       lineage
Attention › Q                                         4.00              6.8 %
  q_proj                gemm_kernel              13   3.00  3.00  3.00  5.1 % █▎       lineage
                        splitKreduce_kernel      13   1.00  1.00  1.00  1.7 % ▍        lineage
Attention                                             16.0             27.4 %
  attention_with_cache  fmhaSm100fKernel_Qkv     13   11.0  10.0  12.0 18.8 % ████▍    annotation
  o_proj                gemm_kernel              13   5.00  5.00  5.00  8.5 % ██       sequence
Mixture of experts › Router                           2.00              3.4 %
  gate                  router_gemm_kernel       13   2.00  2.00  2.00  3.4 % ▊        sequence
Mixture of experts › Shared experts                   8.00             13.7 %
  swiglu_mlp            swiglu_kernel            29   8.00  8.00  8.00 13.7 % ███▎     lineage
Mixture of experts › Experts                          20.0             34.2 %
  moe_fused             experts_kernel           13   20.0  20.0  20.0 34.2 % ████████ name
Mixture of experts                                    1.00              1.7 %
  add                   add_kernel               13   1.00  1.00  1.00  1.7 % ▍        lineage
Residual                                              1.00              1.7 %
  add                   add_kernel               13   1.00  1.00  1.00  1.7 % ▍        lineage
On no node                                           0.500              0.9 %
  -                     mystery_kernel           13  0.500 0.500 0.500  0.9 % ▎        lineage
─────────────────────────────────────────────────────────────────────────────────────────────────
sum                                                   58.5              100 %
)";

}  // namespace

TEST_CASE("the terminal report shows everything, adds up and fits 100 columns") {
    const std::string text = rendered("render.table", make_sample())->printed;
    const std::vector<std::string> wanted = lines_of(report);
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < wanted.size() && i < lines.size(); ++i) CHECK(lines[i] == wanted[i]);
    for (const std::string& line : lines) CHECK(render::display_width(line) <= 100);
    CHECK(text.find("sum          58.5 µs = 58.0 µs on nodes + 500 ns on none; medians of 12 kernels\n") != std::string::npos);
    CHECK(text.find("per step     sum 58.5 µs (57.5 µs to 59.5 µs), wall 46.5 µs (45.5 µs to 47.5 µs)\n") != std::string::npos);
    CHECK(text.find("on no node   500 ns, 1 kernel: its range names a module that the dump does not hold\n") != std::string::npos);
    CHECK(text.find("in no layer  700 ns of each step") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("one evidence for all kernels is said once") {
    Sample sample = make_sample();
    auto attribution = std::make_shared<Attribution>(*sample.attribution);
    attribution->evidence.assign(attribution->evidence.size(), Evidence::sequence);
    sample.attribution = attribution;
    const std::string text = rendered("render.table", sample)->printed;
    CHECK(text.find("known   all kernels by evidence 'sequence'\n") != std::string::npos);
    CHECK(text.find("share  evidence") == std::string::npos);
    CHECK(text.find("sequence", text.find("node  ")) == std::string::npos);
}

TEST_CASE("colour is only there where the terminal has it, and changes no text") {
    const Sample sample = make_sample();
    auto context = sample.context();
    context->screen = {true, true, 100};
    renderer("render.table")->run(*context);
    std::string plain;
    for (std::size_t i = 0; i < context->printed.size(); ++i) {
        if (context->printed[i] == '\x1b') i = context->printed.find('m', i);
        else plain += context->printed[i];
    }
    CHECK(plain != context->printed);
    CHECK(plain == rendered("render.table", sample)->printed);
}

TEST_CASE("long and wide names keep the report within the width") {
    auto context = make_sample("attention_1", std::string(200, 'x') + "漢字(int)").context();
    context->screen = {true, false, 72};
    renderer("render.table")->run(*context);
    for (const std::string& line : lines_of(context->printed)) CHECK(render::display_width(line) <= 72);
}

TEST_CASE("without a trace the report lists the nodes") {
    const std::string text = rendered("render.table", make_sample(), {}, false)->printed;
    CHECK(text.find("q_proj") != std::string::npos);
    CHECK(text.find("%q_1") != std::string::npos);
    CHECK(text.find("µs") == std::string::npos);
}

TEST_CASE("tab-separated values are whole nanoseconds that add up") {
    const auto lines = lines_of(rendered("render.table", make_sample(), {{"format", std::string{"tsv"}}})->printed);
    REQUIRE(lines.size() == 13);
    const auto head = fields_of(lines[0]);
    CHECK(head[4] == "node");
    CHECK(head[11] == "median_ns");
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto fields = fields_of(lines[i]);
        REQUIRE(fields.size() == head.size());
        sum += std::stoll(fields[11]);
    }
    CHECK(sum == 58500);
    CHECK(fields_of(lines[5])[4] == "attention_1");
    CHECK(head[15] == "std_ns");
    CHECK(fields_of(lines[5])[15] == "1414");
    CHECK(fields_of(lines[12])[4] == "-");
}

TEST_CASE("comma-separated values quote what they must, several layers have one head") {
    const Sample sample = make_sample("a,\"b\"");
    auto context = sample.context();
    context->selection.layers = {0, 1};
    renderer("render.table", {{"format", std::string{"csv"}}, {"file", std::string{"t/kernels.csv"}}})->run(*context);
    const std::string& csv = context->files.at("t/kernels.csv");
    CHECK(csv.find("\"a,\"\"b\"\"\"") != std::string::npos);
    CHECK(csv.find("stack,layer", 1) == std::string::npos);
    CHECK(context->printed.empty());
}

TEST_CASE("Markdown is a page's piece, and hostile names stay text in it") {
    const std::string text =
        rendered("render.table", make_sample("attention_1", "k|`[x]*(int)"), {{"format", std::string{"markdown"}}})->printed;
    CHECK(text.find("### test · layer 1\n") == 0);
    CHECK(text.find("| k\\|\\`\\[x\\]\\* |") != std::string::npos);
    CHECK(text.find("**58.5**") != std::string::npos);
}
