#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/kernel_names.hpp>

#include <functional>
#include <map>
#include <string>

namespace adpipe {

/// What the names of a trace's kernels tell, decoded once for all stages behind. Whoever has other rules than adpipe ships gives them to the stage
/// that makes this, and every renderer that reads it shows what they tell.
struct DecodedNames {
    std::map<std::string, KernelName, std::less<>> by_name;  ///< by the name as the trace has it
};

template <>
struct ArtifactTraits<DecodedNames> {
    static constexpr const char* id = "kernel_names/1";
};

}  // namespace adpipe
