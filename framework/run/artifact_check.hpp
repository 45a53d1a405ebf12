#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>

#include <optional>
#include <vector>

namespace adpipe {

/// That annotations are used with the graph that they were made for: layers, attribution and metrics name it by its digest.
ADPIPE_EXPORT std::optional<Diagnostic> digest_fault(const std::vector<Artifact>& inputs);

/// That the columns of an artifact have the length that they must have, so that no later stage reads past their end. `inputs` are
/// those of the stage that made it.
ADPIPE_EXPORT std::optional<Diagnostic> shape_fault(const Artifact& artifact, const std::vector<Artifact>& inputs);

}  // namespace adpipe
