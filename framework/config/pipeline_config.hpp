#pragma once

#include "config/source_text.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// A text that a config gives, and where.
struct ConfigText {
    std::string text;
    bool quoted = false;
    Origin origin;
};

/// `name: value` for an option of a stage, not yet checked against the stage.
struct Setting {
    enum class Shape : std::uint8_t { missing, single, list, map, faulty };  ///< faulty: given, but wrong, and said so already
    ConfigText name;
    Shape shape = Shape::single;
    std::vector<ConfigText> values;
    bool may_be_split = false;   ///< one text that stands for a list as well: "a,b" or "[a, b]"
    Origin origin;               ///< of the value
    std::filesystem::path base;  ///< what a relative path in it is relative to
};

/// `port: id` in `from:`; several ids for a port that takes many.
struct Wire {
    ConfigText port;
    std::vector<ConfigText> producers;
};

struct StageConfig {
    ConfigText stage;
    ConfigText id;  ///< empty: the stage's name
    std::vector<Setting> settings;
    std::vector<Wire> from;
    Origin origin;

    const std::string& name() const noexcept { return id.text.empty() ? stage.text : id.text; }
};

/// A pipeline as it was asked for: by a config file or by the program itself. The planner checks it against the stages that there are.
struct PipelineConfig {
    std::string name;
    LayerSelection layers;
    std::filesystem::path output;
    std::vector<std::filesystem::path> plugins;
    std::vector<StageConfig> stages;
    std::vector<std::string> keep;  ///< artifact types that the program wants to have after the run
    Origin origin;                  ///< of the list of stages
};

/// What the command line changes in a config.
struct ConfigOverrides {
    std::vector<std::string> set;      ///< "stage.option=value"
    std::optional<std::string> layer;  ///< "5", "3,7-9", "all"
    std::optional<std::string> output;
};

/// Reads and checks a config file. Relative paths in it are relative to it. Nothing is returned if it cannot be read at all;
/// otherwise what could be read, and errors in `diagnostics` for the rest.
ADPIPE_EXPORT std::optional<PipelineConfig> read_config(const std::filesystem::path& file, std::vector<Diagnostic>& diagnostics);
ADPIPE_EXPORT std::optional<PipelineConfig> parse_config(const std::shared_ptr<const SourceText>& source,
                                                         const std::filesystem::path& directory, std::vector<Diagnostic>& diagnostics);

/// Applies the command line. Paths there are relative to the working directory, as on any command line.
ADPIPE_EXPORT void apply_overrides(PipelineConfig& config, const ConfigOverrides& overrides, std::vector<Diagnostic>& diagnostics);

}  // namespace adpipe
