#include "autodeploy_body.hpp"
#include "autodeploy_modules.hpp"
#include "file_kind.hpp"
#include "graph_text.hpp"

namespace adpipe::parse {

Parsed parse_autodeploy(const Source& source, const std::string& module) {
    Findings findings(source.path.string(), source.text);
    const std::string_view text = without_byte_order_mark(source.text);
    const std::vector<ModuleText> modules = autodeploy_modules(text);
    const bool is_dump = file_kind(text) == FileKind::autodeploy;
    require_kind(text, is_dump, "parse.autodeploy", findings);
    findings.throw_if_errors();
    check_autodeploy_header(text, modules, module, findings);
    if (modules.empty()) findings.error("ADP-AD-010", "the dump holds no GraphModule", nullptr, "it is cut off after its header");
    findings.throw_if_errors();
    const ModuleChoice choice = choose_modules(modules, module, findings);
    findings.throw_if_errors();

    std::size_t bytes = 0;
    for (const std::size_t i : choice.chosen) {
        bytes += modules[i].body.size();
        check_encoding(modules[i].body, findings);
    }
    findings.throw_if_errors();
    GraphBuilder builder(source.path, source.owner);
    reserve_for(builder, bytes);
    builder.set_may_lack_edges();  // the writer leaves out keyword arguments
    AutodeployBody body(builder, findings);
    for (const std::size_t i : choice.chosen) body.read(modules[i]);
    findings.throw_if_errors();
    const auto graph = builder.freeze();
    return {graph, summarise(*graph, choice, modules.size()), findings.warnings()};
}

}  // namespace adpipe::parse
