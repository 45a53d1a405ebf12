#pragma once

// A step that holds several forward passes, taken apart; and numbers for the layers of one pass.

#include "step_layers.hpp"

#include <string>
#include <vector>

namespace segment {

/// Which layers of a step belong to the same pass of the same model.
struct Pass {
    std::vector<std::uint32_t> stacks;  ///< of StepLayers
    bool cut_at_begin = false;
    bool cut_at_end = false;
};

/// One pass with all stacks, unless the stacks are the same model again and again.
std::vector<Pass> passes_of(const StepLayers& layers, bool is_replay);

/// Kernels of the step, by pass: indices into Step::kernels. What lies between two passes goes to the former until an
/// embedding begins the latter.
std::vector<std::vector<std::uint32_t>> split_by_pass(const SymbolTable& table, const StepKernels& kernels, const StepLayers& layers,
                                                      const std::vector<Pass>& passes);

struct LayerNumber {
    std::int32_t number = 0;
    std::string stack;  ///< empty where the model has one
};
/// One per layer of a step that is one pass.
std::vector<LayerNumber> number_layers(const StepLayers& layers);

}  // namespace segment
