#pragma once

#include "config/pipeline_config.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/options.hpp>
#include <adpipe/stage.hpp>

#include <optional>
#include <string>
#include <vector>

namespace adpipe {

/// The value that a setting gives an option, checked for type, range and choices; an error and nothing if it does not fit.
ADPIPE_EXPORT std::optional<OptionValue> decode_option(const OptionDecl& option, const Setting& setting,
                                                       std::vector<Diagnostic>& diagnostics);

/// All options that a config gives a stage: unknown, repeated and missing ones are errors.
ADPIPE_EXPORT std::vector<GivenOption> decode_options(const StageDecl& stage, const StageConfig& config,
                                                      std::vector<Diagnostic>& diagnostics);

/// "integer", "list of paths", …
ADPIPE_EXPORT std::string option_type_text(OptionType type);
/// The allowed texts of an option, one by one; empty if any is allowed.
ADPIPE_EXPORT std::vector<std::string> option_choices(const OptionDecl& option);
/// "from 1 to 8", "at least 0", "" where there is no limit.
ADPIPE_EXPORT std::string option_range_text(const OptionDecl& option);

}  // namespace adpipe
