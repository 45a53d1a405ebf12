// The pieces of walkthroughs: operands, frames, occupancy, the tree of calls, escaping.

#include "call_tree.hpp"
#include "document.hpp"
#include "../shared/launch_site.hpp"
#include "occupancy.hpp"

#include <doctest/doctest.h>

using namespace adpipe;
using namespace adpipe::walkthrough;

namespace {

std::vector<std::string> texts_of(std::string_view shapes, std::string_view types) {
    std::vector<std::string> texts;
    for (const Operand& operand : operands_of(shapes, types)) texts.push_back(operand.text);
    return texts;
}
using Texts = std::vector<std::string>;

Device hopper() {
    Device device;
    device.compute_major = 9;
    device.compute_minor = 0;
    device.warp_size = 32;
    device.threads_per_multiprocessor = 2048;
    device.registers_per_multiprocessor = 65536;
    device.shared_memory_per_multiprocessor = 233472;
    return device;
}

LaunchShape launch(std::int32_t threads, std::int32_t registers, std::int64_t shared_memory) {
    return {{100, 1, 1}, {threads, 1, 1}, registers, shared_memory};
}

}  // namespace

TEST_CASE("operands are shown by size and type, scalars are left out") {
    CHECK(texts_of("[[8, 2048], [2048, 64], []]", R"(["c10::BFloat16", "float", "Scalar"])") == Texts{"8×2048 bf16", "2048×64 f32"});
    CHECK(texts_of("[[[1, 2], [3]], [4]]", R"(["TensorList", "long int"])") == Texts{"(1×2, 3) TensorList", "4 i64"});
    CHECK(texts_of("[[8,2]]", "[]") == Texts{"8×2"});
    CHECK(texts_of("", "") == Texts{});
    CHECK(texts_of("no list", "[\"float\"]") == Texts{});
    CHECK(texts_of("[[8, x], \"a, b]\"]", R"(["float"])") == Texts{"[8, x] f32", "\"a, b]\""});
}

TEST_CASE("a frame has a file, a line and a function, or is taken as it is") {
    const Frame frame = frame_of("a/b (c).py(88): forward");
    CHECK(frame.file == "a/b (c).py");
    CHECK(frame.line == 88);
    CHECK(frame.function == "forward");
    for (const char* text : {"nn.Module: Attention_0", "<built-in function linear>", "a.py(x): f", "(7): f", "a.py(99999999999): f"}) {
        CHECK(frame_of(text).line == 0);
        CHECK(frame_of(text).function == text);
    }
}

TEST_CASE("frames are shown without addresses, and those of module calls are known") {
    CHECK(frame_text("<built-in method cat of type object at 0x7d6b7761df60>") == "<built-in method cat>");
    CHECK(frame_text("<built-in function linear>") == "<built-in function linear>");
    CHECK(frame_text("a of b at 0x1.py(3): f") == "a of b at 0x1.py(3): f");
    CHECK(is_machinery("/env/lib/torch/nn/modules/module.py(1743): _call_impl"));
    CHECK_FALSE(is_machinery("torch/nn/modules/linear.py(124): forward"));
    CHECK_FALSE(is_machinery("nn.Module: Linear_0"));
}

TEST_CASE("occupancy of AMD's compute units") {
    Device device;
    device.name = "AMD Instinct MI300X";
    device.compute_major = 9;
    device.compute_minor = 4;
    device.warp_size = 64;
    device.threads_per_multiprocessor = 2048;
    device.shared_memory_per_multiprocessor = 65536;
    const auto check = [&](const LaunchShape& shape, std::int64_t blocks, std::int64_t waves, const std::string& by) {
        const Occupancy occupancy = occupancy_of(shape, device);
        CHECK(occupancy.blocks == blocks);
        CHECK(occupancy.warps == waves);
        CHECK(occupancy.most_warps == 32);
        CHECK(occupancy.limited_by == by);
    };
    // Waves of a SIMD by registers, as LLVM's table for gfx90a and gfx940 has them: 8 up to 64, 7 up to 72, 6 up to 80, 5 up to 96, 4 up to 128, …
    check(launch(64, 64, 0), 32, 32, "threads");
    check(launch(64, 65, 0), 28, 28, "registers");
    check(launch(64, 80, 0), 24, 24, "registers");
    check(launch(64, 96, 0), 20, 20, "registers");
    check(launch(64, 128, 0), 16, 16, "registers");
    check(launch(64, 168, 0), 12, 12, "registers");
    check(launch(64, 256, 0), 8, 8, "registers");
    check(launch(64, 512, 0), 4, 4, "registers");
    check(launch(256, 32, 0), 8, 32, "threads");
    check(launch(256, 32, 32'768), 2, 8, "shared memory");
    check(launch(256, 32, 32'769), 1, 4, "shared memory");
    CHECK(occupancy_of(launch(256, -1, 0), device).not_known == std::vector<std::string>{"registers"});
    CHECK(occupancy_of(launch(256, 32, 65'537), device).blocks == -1);  // does not fit: some limit is not what the trace says
    device.threads_per_multiprocessor = 2560;                           // CDNA 1 and older: other rules
    CHECK(occupancy_of(launch(256, 32, 0), device).blocks == -1);
    device.warp_size = 32;  // RDNA
    device.compute_major = 11;
    CHECK(occupancy_of(launch(256, 32, 0), device).blocks == -1);
}

TEST_CASE("occupancy is bound by threads, registers, shared memory or blocks") {
    const auto check = [](const LaunchShape& shape, std::int64_t blocks, const std::string& by) {
        const Occupancy occupancy = occupancy_of(shape, hopper());
        CHECK(occupancy.blocks == blocks);
        CHECK(occupancy.limited_by == by);
        CHECK(occupancy.not_known.empty());
    };
    check(launch(256, 32, 0), 8, "threads");
    check(launch(256, 64, 0), 4, "registers");
    check(launch(384, 168, 0), 1, "registers");
    check(launch(128, 32, 100'000), 2, "shared memory");  // 1024 bytes more than asked for
    check(launch(128, 32, 233'472 / 2 - 1024), 2, "shared memory");
    check(launch(128, 32, 233'472 / 2 - 1023), 1, "shared memory");
    check(launch(32, 16, 0), 32, "blocks");
}

TEST_CASE("what is not known bounds nothing, and is named") {
    CHECK(occupancy_of(launch(-1, 32, 0), hopper()).blocks == -1);
    CHECK(occupancy_of(launch(256, -1, 0), hopper()).not_known == std::vector<std::string>{"registers"});
    CHECK(occupancy_of(launch(256, -1, 0), hopper()).blocks == 8);
    CHECK(occupancy_of(launch(256, 32, 0), Device{}).blocks == -1);
}

TEST_CASE("modules that differ in their number are one node of the tree, kernels keep their order") {
    Window window;
    auto trace = std::make_shared<Trace>();
    Annotations& ranges = trace->annotations;
    const auto range = [&](const char* name, Nanoseconds start, Nanoseconds end) {
        ranges.start.push_back(start);
        ranges.end.push_back(end);
        ranges.name.push_back(trace->string_id(name));
        ranges.process.push_back(0);
        ranges.thread.push_back(1);
        ranges.source.push_back(Annotations::Source::python);
    };
    range("m.py(1): forward", 0, 100);
    std::vector<std::uint32_t> kernels;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const Nanoseconds start = 10 + 20 * i;
        range(("nn.Module: Layer_" + std::to_string(i)).c_str(), start, start + 10);
        Launches& calls = trace->launches;
        calls.start.push_back(start + 5);
        calls.end.push_back(start + 6);
        calls.name.push_back(0);
        calls.process.push_back(0);
        calls.thread.push_back(1);
        calls.correlation.push_back(i);
        trace->kernels.start.push_back(1000 + 10 * i);
        trace->kernels.end.push_back(1005 + 10 * i);
        trace->kernels.name.push_back(trace->string_id("k"));
        trace->kernels.correlation.push_back(i);
        kernels.push_back(i);
    }
    window.trace = trace;
    const TreeNode root = call_tree(*trace, kernels, LaunchSites(window, nullptr));
    REQUIRE(root.children.size() == 1);
    CHECK(root.total == 15);
    REQUIRE(root.children[0]->children.size() == 1);
    const TreeNode& layers = *root.children[0]->children[0];
    CHECK(node_title(layers) == "nn.Module: Layer_0 … 2 (3 modules)");
    REQUIRE(layers.launched.size() == 1);
    CHECK(layers.launched[0].count == 3);
}

TEST_CASE("hostile texts end neither a figure nor a link, and no escape sequence reaches a terminal") {
    Document document;
    document.heading(1, "a\n# b");
    document.figure({"x ``` y", "\x1b[31mred"});
    document.tree({{0, "f](evil)", "javascript:alert(1)", ""}, {1, "g", "a b).py:3", " <script>"}});
    document.facts({{"k|l", "v\n|w"}});
    const std::string markdown = document.markdown();
    CHECK(markdown.find("````text\nx ``` y\n\\x1b[31mred\n````\n") != std::string::npos);
    CHECK(markdown.find("](javascript") == std::string::npos);
    CHECK(markdown.find("(./javascript:alert%281%29)") != std::string::npos);
    CHECK(markdown.find("(a%20b%29.py:3)") != std::string::npos);
    CHECK(markdown.find("<script>") == std::string::npos);
    CHECK(markdown.find("\n# b") == std::string::npos);
    CHECK(document.terminal({}).find('\x1b') == std::string::npos);
    const std::string html = document.html("a</title><script>", {"h1 { color: red }", std::string(64, 'a')});
    CHECK(html.find("<script>") == std::string::npos);
    CHECK(html.find("href=\"./javascript:alert%281%29\"") != std::string::npos);
    CHECK(html.find("href=\"a%20b%29.py:3\"") != std::string::npos);
    CHECK(html.find('\x1b') == std::string::npos);
    CHECK(html.find("<ul>\n<li><a href=\"./javascript:alert%281%29\">f](evil)</a><ul>\n<li>") != std::string::npos);
}
