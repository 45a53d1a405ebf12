#pragma once

#include <adpipe/export.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Who named a place to look for plugins, strongest first.
enum class PlaceOrigin : std::uint8_t { command_line, config, environment, user, installed };

/// A plugin file or a directory of plugins.
struct SearchPlace {
    std::filesystem::path path;  ///< absolute
    PlaceOrigin origin = PlaceOrigin::installed;
    /// The user named it for this run (`--plugin`, `plugins:`): that it is missing or unusable is an error. Elsewhere it is not.
    bool named() const noexcept { return origin <= PlaceOrigin::config; }
};

/// What the search for plugins and data files depends on. Taken from the process by from_process(); tests fill it by hand.
struct SearchSettings {
    std::vector<std::filesystem::path> command_line;  ///< `--plugin`, files or directories
    std::vector<std::filesystem::path> config;        ///< `plugins:`, absolute
    std::string plugin_path;                          ///< ADPIPE_PLUGIN_PATH, separated by ':'
    std::filesystem::path user_data;                  ///< $XDG_DATA_HOME/adpipe or ~/.local/share/adpipe; empty if unknown
    std::filesystem::path executable;                 ///< directory of the running program; empty if unknown
    std::filesystem::path library;                    ///< directory of libadpipe; empty if unknown

    ADPIPE_EXPORT static SearchSettings from_process();
};

/// The places to look at, in order: --plugin, `plugins:`, ADPIPE_PLUGIN_PATH, the user's data directory, the installed plugins.
/// Never the working directory, never LD_LIBRARY_PATH.
ADPIPE_EXPORT std::vector<SearchPlace> search_places(const SearchSettings& settings);

/// The directories that may hold data files such as "rules/deepseek.yaml", in order.
ADPIPE_EXPORT std::vector<std::filesystem::path> data_directories(const SearchSettings& settings);

/// "--plugin", "plugins: in the config", "ADPIPE_PLUGIN_PATH", "user", "installed".
ADPIPE_EXPORT std::string_view origin_text(PlaceOrigin origin) noexcept;

}  // namespace adpipe
