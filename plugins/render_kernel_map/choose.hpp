#pragma once

#include "kernel_map.hpp"

#include <adpipe/stage.hpp>

#include <memory>
#include <optional>

namespace adpipe::kernel_map {

struct SideChoice {
    std::string phase;             ///< taken where the trace has it, else all its steps
    std::int64_t batch_size = -1;  ///< -1: the one with the most steps
};

/// One map per pair of kinds that share layers. Throws Error: ADP-RND-022 where there are not two sides or no shared
/// layer, ADP-RND-023 where layers are too long.
std::vector<KernelMap> choose_maps(Context& context, const SideChoice& left, const SideChoice& right, const KernelNames& names);

}  // namespace adpipe::kernel_map
