#pragma once

// Steps that run the same kernels: their layers are found once.

#include "passes.hpp"

#include <adpipe/model/window.hpp>

#include <memory>
#include <string>
#include <vector>

namespace segment {

/// One step as an instance of a program.
struct Instance {
    std::uint32_t step = 0;             ///< index into Window::steps
    std::vector<std::int32_t> matched;  ///< per kernel of the step: index among the program's kernels, or -1
};

/// What steps of one kind run: the kernels of a step that stands for all of them.
struct Program {
    std::string name;        ///< "decode_bs16"
    std::uint32_t step = 0;  ///< the one that stands for all
    StepKernels kernels;
    StepLayers layers;
    std::vector<LayerNumber> numbers;  ///< per layer
    std::vector<Instance> instances;
};

struct Programs {
    std::shared_ptr<const adpipe::Window> window;  ///< the steps that programs refer to; others than before if a step held several passes
    std::vector<Program> programs;
    std::vector<std::uint32_t> without_layers;  ///< steps in which nothing repeats; `window` has them as not chosen
    std::vector<std::uint32_t> cut_off;         ///< passes of which a part was recorded; `window` has them as not chosen
};

/// Chosen steps only.
Programs find_programs(std::shared_ptr<const adpipe::Window> window, SymbolTable& table, const LayerFinder& finder);

/// Pairs of the longest common part of two sequences, near enough: exact when they differ in at most 1000 places. For
/// each element of `a` its partner in `b`, or -1.
std::vector<std::int32_t> match_sequences(SymbolSpan a, SymbolSpan b);

}  // namespace segment
