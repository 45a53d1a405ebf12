#pragma once

// The frames that kernels were launched from, merged into a tree.

#include "../shared/launch_site.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace adpipe::walkthrough {

using namespace launches;

/// Kernels of one name launched from one place.
struct TreeKernel {
    StringId name = 0;
    std::uint32_t example = 0;  ///< index into Trace::kernels
    std::uint32_t count = 0;
    Nanoseconds total = 0;
};

/// A frame or operator, with all that was launched below it.
struct TreeNode {
    std::string text;  ///< of the first that was merged into it
    std::vector<std::string>
        instances;  ///< distinct texts where frames that differ in a number were merged: "nn.Module: DecoderLayer_0", …
    bool is_operator = false;
    std::uint32_t kernels = 0;
    Nanoseconds total = 0;
    std::vector<std::unique_ptr<TreeNode>> children;  ///< in the order of their first kernel
    std::vector<TreeKernel> launched;                 ///< right here
};

/// Of these kernels, in the order given. A module's frames that differ only in the number at their end count as one.
TreeNode call_tree(const Trace& trace, const std::vector<std::uint32_t>& kernels, const LaunchSites& sites);

/// "nn.Module: DecoderLayer_0 … 11 (12 modules)", or the text.
std::string node_title(const TreeNode& node);

}  // namespace adpipe::walkthrough
