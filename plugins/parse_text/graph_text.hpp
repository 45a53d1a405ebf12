#pragma once

#include "findings.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::parse {

/// A text to parse, and what keeps it in memory.
struct Source {
    std::filesystem::path path;
    std::shared_ptr<const void> owner;
    std::string_view text;
};

struct Parsed {
    std::shared_ptr<const GraphModel> graph;
    std::string summary;  ///< "module monolithic.model of 126: 3,081 ops, …"
    std::vector<Diagnostic> warnings;
};

/// One GraphModule of a text that is not parsed yet.
struct ModuleText {
    std::string_view name;
    std::string_view header;  ///< the line that names it
    std::string_view body;    ///< what follows, up to the next module
};

/// Which of `modules` to read for option `module`: "auto", "all" or a name. Reports a name that is not there.
struct ModuleChoice {
    std::vector<std::size_t> chosen;
    std::string reason;
};
ModuleChoice choose_modules(const std::vector<ModuleText>& modules, const std::string& wanted, Findings& findings);

/// "module X (why): 3 081 ops, 1 042 weights".
std::string summarise(const GraphModel& graph, const ModuleChoice& choice, std::size_t modules);

/// A mark that some editors put before UTF-8 is no part of the text.
std::string_view without_byte_order_mark(std::string_view text);

/// Makes room for what a text of that size may hold, as far as memory that is never touched costs nothing.
void reserve_for(GraphBuilder& builder, std::size_t bytes);

/// Reports an empty file, and one that looks like something else than `parser` reads.
void require_kind(std::string_view text, bool is_right_kind, std::string_view parser, Findings& findings);

/// Each throws Error with up to 20 diagnostics if the text cannot be read whole.
Parsed parse_autodeploy(const Source& source, const std::string& module);
Parsed parse_fx_readable(const Source& source, const std::string& module);
Parsed parse_torch_export(const Source& source, const std::string& module);
/// Chooses the parser by what the file holds.
Parsed parse_auto(const Source& source, const std::string& module);

}  // namespace adpipe::parse
