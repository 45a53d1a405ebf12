#pragma once

#include <adpipe/export.hpp>
#include <adpipe/kernel_names.hpp>

#include <string>
#include <vector>

namespace adpipe::render {

/// Short names such that different kernels have different ones: where several have the same, what tells them apart is
/// added, as little of it as does: what a generic kernel wraps ("elementwise add"), parameters ("nvjet_64x16 (stages
/// 16)"), else the words in which the names differ. One per element of `names`, which are taken to be of different
/// kernels. Pure, any thread.
ADPIPE_EXPORT std::vector<std::string> distinct_short_names(const std::vector<KernelName>& names);

}  // namespace adpipe::render
