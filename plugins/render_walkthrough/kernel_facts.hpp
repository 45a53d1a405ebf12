#pragma once

#include "../shared/launch_site.hpp"
#include "document.hpp"
#include "layer_walk.hpp"
#include "occupancy.hpp"

#include <string>
#include <vector>

namespace adpipe::walkthrough {

using namespace launches;

/// What is known of one kernel of a layer.
struct KernelFacts {
    render::ProfileRow row;
    KernelName name;
    std::string full_name;  ///< without "void "
    KernelCategory category = KernelCategory::other;
    std::int64_t stream = -1;
    Nanoseconds start = 0;  ///< of the example
    Nanoseconds end = 0;
    LaunchShape shape;               ///< the commonest; unknown where the trace does not tell
    const Device* device = nullptr;  ///< that it ran on; nullptr: the trace does not describe it
    Occupancy occupancy;
    LaunchSite site;
    std::vector<std::string> nodes;  ///< of a graph dump that it was attributed to: "linear_5: auto_deploy.linear"
    Nanoseconds layer_total = 0;
    std::uint32_t executions = 0;  ///< of the layer
};

std::vector<KernelFacts> kernel_facts(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites);

/// Some sentences, of what is known alone.
std::string sentences(const KernelFacts& kernel);
/// The same and all else that is known, as a table.
std::vector<Document::Fact> fact_table(const KernelFacts& kernel);
/// "shapes of the operands", …: what the trace does not hold of it.
std::vector<std::string> not_known(const KernelFacts& kernel);

/// "8×2048 bf16, 2048×3072 bf16"; empty where not recorded.
std::string operands_text(const LaunchSite& site);

/// Work of a matrix product whose operands are known, by its operator's name; 0 operations where it is none.
struct MatrixProduct {
    double operations = 0;
    double operand_bytes = 0;  ///< 0: a type is not known
    std::string sizes;         ///< "m 8, n 3072, k 2048"
};
MatrixProduct matrix_product(const LaunchSite& site);

}  // namespace adpipe::walkthrough
