#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace adpipe {

struct StampReading;

/// Why the file cannot be used as a plugin, as far as that shows without loading it; nothing if it can.
ADPIPE_EXPORT std::optional<Diagnostic> stamp_refusal(const std::filesystem::path& file, const StampReading& reading);

/// What is wrong with what adpipe_plugin() returned: null texts, repeated names, another list of stages than the stamp's.
ADPIPE_EXPORT std::vector<std::string> declaration_faults(const PluginDecl* plugin, const std::vector<std::string>& stamp_stages);

/// Loads the plugin for good (it is never unloaded) and returns its declaration. Throws Error (ADP-PLUG-…) if it is refused.
const PluginDecl& load_plugin(const std::filesystem::path& file, const std::vector<std::string>& stamp_stages);

}  // namespace adpipe
