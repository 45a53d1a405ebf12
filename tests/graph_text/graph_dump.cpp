// Prints a graph text as a table, one vertex a line: module, name, kind, shape, dtype, module path, line, sources of its data edges.
// Anything that is reported, even a warning, makes it fail.

#include "parse_text/graph_text.hpp"

#include <adpipe/files.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

using namespace adpipe;

namespace {

std::string row(const GraphModel& graph, VertexId v) {
    constexpr std::array<std::string_view, 4> kinds{"op", "weight", "placeholder", "output"};
    const Vertex& vertex = graph.vertex(v);
    std::string text = graph.modules()[vertex.module].name + "\t";
    for (const std::string_view field :
         {vertex.name, kinds[static_cast<std::size_t>(vertex.kind)], vertex.shape, vertex.dtype, vertex.module_path}) {
        text += std::string{field} + "\t";
    }
    text += std::to_string(vertex.line) + "\t";
    for (const Edge& edge : graph.inputs(v)) {
        if (edge.kind == EdgeKind::data) text += std::string{graph.vertex(edge.source).name} + ",";
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: graph_dump FILE\n");
        return 2;
    }
    try {
        const auto file = MappedFile::open(argv[1]);
        const parse::Parsed parsed = parse::parse_auto({file->path(), file, file->text()}, "all");
        for (const Diagnostic& warning : parsed.warnings) std::fputs(format_text(warning).c_str(), stderr);
        for (VertexId v = 0; v < parsed.graph->size(); ++v) std::puts(row(*parsed.graph, v).c_str());
        return parsed.warnings.empty() ? 0 : 1;
    } catch (const Error& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) std::fputs(format_text(diagnostic).c_str(), stderr);
        return 1;
    }
}
