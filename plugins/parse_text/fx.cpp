#include "export_signature.hpp"
#include "file_kind.hpp"
#include "fx_body.hpp"
#include "fx_modules.hpp"
#include "graph_text.hpp"

namespace adpipe::parse {

namespace {

/// Reads the classes of `graph_text`, a part of the source's text.
Parsed read_classes(const Source& source, std::string_view graph_text, const WeightPaths& weights, const std::string& wanted,
                    Findings& findings) {
    std::vector<std::string> names;
    const std::vector<ModuleText> modules = fx_modules(graph_text, names);
    if (modules.empty()) {
        findings.error("ADP-FX-007", "no class derived from torch.nn.Module in this text", nullptr,
                       "the text is cut off, or not a graph that torch.fx printed");
    }
    findings.throw_if_errors();
    const ModuleChoice choice = choose_modules(modules, wanted, findings);
    findings.throw_if_errors();

    std::size_t bytes = 0;
    for (const std::size_t i : choice.chosen) {
        bytes += modules[i].body.size();
        check_encoding(modules[i].body, findings);
    }
    findings.throw_if_errors();
    GraphBuilder builder(source.path, source.owner);
    reserve_for(builder, bytes);
    FxBody body(builder, findings, modules, weights);
    for (const std::size_t i : choice.chosen) body.read(modules[i]);
    findings.throw_if_errors();
    const auto graph = builder.freeze();
    return {graph, summarise(*graph, choice, modules.size()), findings.warnings()};
}

}  // namespace

Parsed parse_fx_readable(const Source& source, const std::string& module) {
    Findings findings(source.path.string(), source.text);
    require_kind(source.text, file_kind(source.text) == FileKind::fx_readable, "parse.fx_readable", findings);
    findings.throw_if_errors();
    return read_classes(source, without_byte_order_mark(source.text), {}, module, findings);
}

Parsed parse_torch_export(const Source& source, const std::string& module) {
    Findings findings(source.path.string(), source.text);
    require_kind(source.text, file_kind(source.text) == FileKind::torch_export, "parse.torch_export", findings);
    findings.throw_if_errors();
    const std::string_view text = without_byte_order_mark(source.text);
    const std::string_view signature = find_signature(text);
    if (signature.empty()) {
        findings.error("ADP-FX-008", "the text has no \"Graph signature:\" part, which says what the weights are", nullptr,
                       "the text is cut off");
        findings.throw_if_errors();
    }
    const std::string_view graph_text = text.substr(0, static_cast<std::size_t>(signature.data() - text.data()));
    return read_classes(source, graph_text, read_signature(signature), module, findings);
}

}  // namespace adpipe::parse
