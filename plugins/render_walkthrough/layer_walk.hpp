#pragma once

#include "../shared/launch_site.hpp"
#include "document.hpp"

#include <adpipe/render/layer_profile.hpp>

#include <string>

namespace adpipe::walkthrough {

using namespace launches;

struct WalkInput {
    const GraphModel& graph;
    const Layers& layers;
    const Attribution& attribution;
    const KernelNames& names;
};

/// The whole layer: overview, flow, kernel by kernel, and what the trace does not hold.
Document walk_layer(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites);

/// The kernels of the layer that `wanted` names: a position, or a part of a name. Throws Error ADP-RND-024 if there is
/// none.
Document walk_kernels(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites, const std::string& wanted);

}  // namespace adpipe::walkthrough
