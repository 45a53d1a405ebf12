// Feeds damaged graph texts to every parser: each must give a graph or a diagnostic, never crash, never hang, never both or neither.
//
//   graph_text_fuzz [ROUNDS [SEED]] FILE...       damages the files again and again, the same way for the same seed
//   clang++ -fsanitize=fuzzer -DADPIPE_LIBFUZZER  makes a libFuzzer target of it

#include "parse_text/graph_text.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace adpipe;

namespace {

using Parser = parse::Parsed (*)(const parse::Source&, const std::string&);
constexpr std::array<Parser, 4> parsers{&parse::parse_autodeploy, &parse::parse_fx_readable, &parse::parse_torch_export,
                                        &parse::parse_auto};

[[noreturn]] void fail(const std::string& what, const std::string& text) {
    std::ofstream("graph_text_fuzz.failed", std::ios::binary) << text;
    std::fprintf(stderr, "%s; the text is in graph_text_fuzz.failed\n", what.c_str());
    std::abort();
}

void check_graph(const GraphModel& graph, const std::string& text) {
    if (graph.size() == 0) fail("a graph without a vertex", text);
    for (const Edge& edge : graph.edges()) {
        if (edge.source >= edge.target) fail("an edge from a later to an earlier vertex", text);
        if (graph.vertex(edge.source).module != graph.vertex(edge.target).module) fail("an edge between modules", text);
    }
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Vertex& vertex = graph.vertex(v);
        if (vertex.name.empty() || graph.find(vertex.name, vertex.module) != v) fail("a vertex that cannot be found", text);
        if (vertex.kind == VertexKind::op && vertex.target.empty()) fail("an op without a target", text);
        (void)output_types(vertex);
    }
}

void check_diagnostics(const std::vector<Diagnostic>& diagnostics, bool has_error, const std::string& text) {
    if (has_error && (diagnostics.empty() || diagnostics.front().severity != Severity::error)) fail("a failure without an error", text);
    if (diagnostics.size() > 40) fail("too many diagnostics", text);
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.code.empty() || diagnostic.message.empty()) fail("a diagnostic that says nothing", text);
        if (format_text(diagnostic).empty() || format_json(diagnostic).empty()) fail("a diagnostic that cannot be shown", text);
    }
}

void run(const std::string& text) {
    const auto owner = std::make_shared<const std::string>(text);
    for (const Parser parser : parsers) {
        for (const char* module : {"auto", "all"}) {
            try {
                const parse::Parsed parsed = parser({"fuzz.txt", owner, *owner}, module);
                check_graph(*parsed.graph, text);
                check_diagnostics(parsed.warnings, false, text);
            } catch (const Error& error) {
                check_diagnostics(error.diagnostics(), true, text);
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    run(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}

#ifndef ADPIPE_LIBFUZZER

namespace {

constexpr std::array<std::string_view, 34> tokens{"%",
                                                  " = ",
                                                  " : ",
                                                  ", ",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  "\n",
                                                  "\r\n",
                                                  "output ",
                                                  "# GraphModule: ",
                                                  "====",
                                                  "<function f at 0x1>",
                                                  "->",
                                                  "None",
                                                  "'",
                                                  "\"",
                                                  "\\",
                                                  "%x",
                                                  "%x : 2 : torch.int8",
                                                  "return ",
                                                  "self.a.b",
                                                  "getattr(self.a, \"0\")",
                                                  "class A(torch.nn.Module):\n",
                                                  "def forward(self, x):",
                                                  ";  ",
                                                  "#",
                                                  "Graph signature:\n",
                                                  "\xff",
                                                  "\xc3",
                                                  "s70"};

class Damage {
public:
    explicit Damage(std::uint64_t seed) : random_(seed) {}

    std::string apply(std::string text) {
        for (std::size_t n = 1 + pick(6); n > 0; --n) step(text);
        return text;
    }
    std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }

private:
    void step(std::string& text) {
        if (text.empty()) text = "%";
        const std::size_t at = pick(text.size());
        const std::size_t size = std::min<std::size_t>(text.size() - at, 1 + pick(pick(4) == 0 ? 400 : 8));
        switch (pick(8)) {
            case 0: text[at] = static_cast<char>(pick(256)); break;
            case 1: text.erase(at, size); break;
            case 2: text.insert(at, text.substr(pick(text.size()), size)); break;
            case 3: text.insert(at, tokens[pick(tokens.size())]); break;
            case 4: text.insert(at, std::string(size, text[at])); break;
            case 5: text.resize(at); break;
            case 6: swap_lines(text, at); break;
            default: text.replace(at, size, tokens[pick(tokens.size())]); break;
        }
    }
    static void swap_lines(std::string& text, std::size_t at) {
        const std::size_t first = text.find('\n', at);
        const std::size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
        if (second == std::string::npos) return;
        const std::string line = text.substr(first + 1, second - first);
        text.erase(first + 1, second - first);
        const std::size_t before = text.rfind('\n', at);
        text.insert(before == std::string::npos ? 0 : before + 1, line);
    }

    std::mt19937_64 random_;
};

/// A part of a large text that damage is likely to hit: its begin, and some lines from anywhere.
std::string excerpt(const std::string& text, Damage& damage) {
    constexpr std::size_t most = 6000;
    if (text.size() <= most) return text;
    const std::size_t from = text.find('\n', most / 2 + damage.pick(text.size() - most)) + 1;
    return text.substr(0, text.rfind('\n', most / 2) + 1) + text.substr(from, most / 2);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: graph_text_fuzz ROUNDS SEED FILE...\n");
        return 2;
    }
    std::vector<std::string> samples;
    for (int i = 3; i < argc; ++i) {
        std::ifstream file(argv[i], std::ios::binary);
        samples.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        if (samples.back().empty()) {
            std::fprintf(stderr, "cannot read %s\n", argv[i]);
            return 2;
        }
        run(samples.back());
    }
    Damage damage(std::strtoull(argv[2], nullptr, 10));
    const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
    for (unsigned long round = 0; round < rounds; ++round) {
        run(damage.apply(excerpt(samples[damage.pick(samples.size())], damage)));
    }
    std::printf("%lu damaged texts: a graph or a diagnostic each\n", rounds);
    return 0;
}

#endif
