#pragma once

#include "kernel_map.hpp"

#include <adpipe/stage.hpp>

#include <string>
#include <vector>

namespace adpipe::kernel_map {

std::string map_terminal(const std::vector<KernelMap>& maps, const Terminal& terminal);
std::string map_markdown(const std::vector<KernelMap>& maps);
/// One page that loads nothing and holds no script.
std::string map_html(const std::vector<KernelMap>& maps);

// What the three have in common; raw text.

/// "prefill: layers 0-31"
std::string side_title(const Side& side);
/// "12 kernels | 14 kernels: 3 same, 5 with other parameters, …"
std::string counts_line(const KernelMap& map);
/// "a.json beside b.json"; with a word where one is simulated.
std::string traces_line(const KernelMap& map);
/// "RMSNormKernel (in 3 of 24)" where not every layer runs it.
std::string kernel_title(const Side& side, const Cell& cell);
/// "aten::mm", or "aten::mm → vllm::gemm" where the sides differ; empty where neither is known.
std::string operators_text(const KernelMap& map, const Row& row);
/// True if an operator of any kernel is known.
bool any_operator(const KernelMap& map);
bool any_uncertain(const KernelMap& map);
inline constexpr const char* uncertain_note =
    "? : another kernel beside it would fit as well; the order of kernels does not tell which of them does the same "
    "work";

/// Time of one layer by category, both sides, the most time first.
struct CategoryLine {
    std::string_view category;
    double left = 0;  ///< ns in one layer, on average
    double right = 0;
};
std::vector<CategoryLine> by_category(const KernelMap& map);
/// What runs once per layer on average: the sum over all executions by their number.
double layer_mean(const Side& side);

}  // namespace adpipe::kernel_map
