#pragma once

#include "parse_text/graph_text.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <memory>
#include <string>

namespace graph_text {

using Parser = adpipe::parse::Parsed (*)(const adpipe::parse::Source&, const std::string&);

inline adpipe::parse::Parsed read(Parser parser, const std::string& text, const std::string& module = "auto") {
    const auto owner = std::make_shared<const std::string>(text);
    return parser({"t.txt", owner, *owner}, module);
}

/// "CODE line:column message" of each diagnostic that the text causes, errors and warnings alike.
inline std::string faults(Parser parser, const std::string& text, const std::string& module = "auto") {
    std::vector<adpipe::Diagnostic> found;
    try {
        found = read(parser, text, module).warnings;
    } catch (const adpipe::Error& error) {
        found = error.diagnostics();
    }
    std::string shown;
    for (const adpipe::Diagnostic& d : found) {
        shown += d.code;
        if (d.where.line != 0) shown += " " + std::to_string(d.where.line) + ":" + std::to_string(d.where.column);
        shown += (d.severity == adpipe::Severity::error ? " " : " (no error) ") + d.message + "\n";
    }
    return shown;
}

/// One line a vertex: kind letter, name, op, type, then what it uses and its literals, with positions.
inline std::string show(const adpipe::GraphModel& graph) {
    std::string text;
    for (adpipe::VertexId v = 0; v < graph.size(); ++v) {
        const adpipe::Vertex& vertex = graph.vertex(v);
        text += "OWPR"[static_cast<int>(vertex.kind)];
        text += " " + std::string{vertex.name};
        if (!vertex.op.empty()) text += " = " + std::string{vertex.op};
        if (!vertex.dtype.empty()) text += " : " + std::string{vertex.shape} + " : " + std::string{vertex.dtype};
        if (!vertex.module_path.empty()) text += " in " + std::string{vertex.module_path};
        for (const adpipe::Edge& edge : graph.inputs(v)) {
            const char* mark = edge.kind == adpipe::EdgeKind::memory ? "~" : "";
            text += " " + std::to_string(edge.argument) + "<-" + mark + std::string{graph.vertex(edge.source).name};
        }
        for (const adpipe::Literal& literal : graph.literals(v)) {
            text += " " + std::to_string(literal.argument) + "=`" + std::string{literal.text} + "`";
        }
        text += "\n";
    }
    return text;
}

inline std::string show(Parser parser, const std::string& text, const std::string& module = "auto") {
    const adpipe::parse::Parsed parsed = read(parser, text, module);
    return show(*parsed.graph);
}

}  // namespace graph_text
