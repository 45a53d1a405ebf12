#include "graph_text.hpp"

#include "characters.hpp"
#include "file_kind.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/suggest.hpp>

#include <algorithm>

namespace adpipe::parse {

namespace {

/// The module with the most lines among those that `wanted` accepts; modules.size() if there is none.
template <class Wanted>
std::size_t largest(const std::vector<ModuleText>& modules, Wanted wanted) {
    std::size_t best = modules.size();
    std::size_t most = 0;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (!wanted(modules[i])) continue;
        const std::size_t lines = count_lines(modules[i].body);
        if (best == modules.size() || lines > most) {
            most = lines;
            best = i;
        }
    }
    return best;
}

ModuleChoice choose_automatically(const std::vector<ModuleText>& modules) {
    if (modules.size() == 1) return {{0}, "the only one"};
    // After the compile stage the whole model stands beside the parts that it was cut into.
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (modules[i].name == "monolithic.model") return {{i}, "the whole model"};
    }
    const std::size_t whole = largest(modules, [](const ModuleText& m) { return ends_with(m.name, ".monolithic.model"); });
    if (whole < modules.size()) return {{whole}, "the largest whole model"};
    return {{largest(modules, [](const ModuleText&) { return true; })}, "the largest"};
}

}  // namespace

ModuleChoice choose_modules(const std::vector<ModuleText>& modules, const std::string& wanted, Findings& findings) {
    if (wanted.empty() || wanted == "auto") return choose_automatically(modules);
    ModuleChoice choice{{}, "option module"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (wanted == "all" || modules[i].name == wanted) choice.chosen.push_back(i);
        names.emplace_back(modules[i].name);
    }
    if (wanted == "all") return choice;
    if (choice.chosen.empty()) {
        const std::string nearest = nearest_name(wanted, names);
        findings.error("ADP-TXT-005", "no module \"" + wanted + "\" in this file; it has " + list_names(names), nullptr,
                       nearest.empty() ? "module: auto takes the whole model" : "did you mean " + nearest + "?");
    } else if (choice.chosen.size() > 1) {
        findings.warning("ADP-TXT-006",
                         "module \"" + wanted + "\" is there " + std::to_string(choice.chosen.size()) + " times; the first is read",
                         modules[choice.chosen[1]].header.data());
        choice.chosen.resize(1);
    }
    return choice;
}

std::string summarise(const GraphModel& graph, const ModuleChoice& choice, std::size_t modules) {
    std::size_t ops = 0;
    std::size_t weights = 0;
    for (const Vertex& v : graph.vertices()) {
        ops += v.kind == VertexKind::op;
        weights += v.kind == VertexKind::weight;
    }
    std::string text = choice.chosen.size() == 1 ? "module " + graph.modules().front().name + " (" + choice.reason +
                                                       (modules > 1 ? " of " + std::to_string(modules) : "") + ")"
                                                 : "all " + std::to_string(modules) + " modules";
    return text + ": " + render::count_text(ops, "op") + ", " + render::count_text(weights, "weight");
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return starts_with(text, mark) ? text.substr(mark.size()) : text;
}

void reserve_for(GraphBuilder& builder, std::size_t bytes) {
    constexpr std::size_t most = 1 << 20;
    builder.reserve(std::min(bytes / 32, most), std::min(bytes / 24, most));
}

Parsed parse_auto(const Source& source, const std::string& module) {
    switch (file_kind(source.text)) {
        case FileKind::autodeploy: return parse_autodeploy(source, module);
        case FileKind::fx_readable: return parse_fx_readable(source, module);
        case FileKind::torch_export: return parse_torch_export(source, module);
        default: break;
    }
    Findings findings(source.path.string(), source.text);
    require_kind(source.text, false, "parse.auto", findings);
    findings.throw_if_errors();
    return {};
}

void require_kind(std::string_view text, bool is_right_kind, std::string_view parser, Findings& findings) {
    if (is_right_kind) return;
    const FileKind kind = file_kind(text);
    if (kind == FileKind::empty) {
        findings.error("ADP-TXT-001", text.empty() ? "the file is empty" : "the file holds nothing but blanks", nullptr,
                       "was the run that wrote it cut off?");
        return;
    }
    findings.error("ADP-TXT-002", std::string{parser} + " cannot read this file: it looks like " + std::string{describe(kind)}, nullptr,
                   std::string{advice(kind)});
}

}  // namespace adpipe::parse
