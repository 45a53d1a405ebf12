#pragma once

// Layers of one step, over all its streams.

#include "period.hpp"

#include <adpipe/model/window.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace segment {

/// Where one kernel of a step belongs.
struct Place {
    static constexpr std::int32_t prologue = -1;
    static constexpr std::int32_t epilogue = -2;
    static constexpr std::int32_t unknown = -4;
    std::int32_t layer = unknown;  ///< index into StepLayers::layers, or one of the above
    bool on_main_stream = true;
};

struct FoundLayer {
    std::uint32_t kind = 0;   ///< from 0 in order of appearance
    std::uint32_t stack = 0;  ///< run of layers: a pass, or one stack of a model with several (encoder and decoder, a draft model)
    bool regular = true;
};

struct StepLayers {
    Period period;
    std::vector<FoundLayer> layers;
    std::vector<std::uint32_t> examples;  ///< per kind, the layer that stands for it: index into `layers`
    std::vector<Place> places;            ///< one per kernel of the step, in the order of StepKernels
    std::uint32_t stacks = 1;
    /// The kernels' names repeat in the order of the file, but not in the order of their times: the profiler mixed
    /// times up.
    bool times_mixed_up = false;
    std::string order;  ///< "launch order" or "file order"
};

/// What a segmentation of one step needs to know of a kernel, in the order of Step::kernels.
struct StepKernels {
    Symbols symbols;
    std::vector<std::uint32_t> kernel;  ///< index into Trace::kernels
    std::vector<std::int64_t> stream;
    std::vector<adpipe::Nanoseconds> start;
    std::vector<std::int64_t> row;  ///< place in the file; empty where that is not known
    bool in_capture_order = false;  ///< the order is that of the captured graph, the same in every replay
};
/// `rows_are_places`: as below.
StepKernels kernels_of(const adpipe::Trace& trace, const adpipe::Step& step, SymbolTable& table, bool rows_are_places);

/// False where kernels and copies are in tables of their own, each with its own rows: then rows of one and the other
/// are in no order.
bool rows_are_places_in_file(const adpipe::Trace& trace);

/// Finds the layers of a sequence of the main stream's kernels.
class LayerFinder {
public:
    virtual ~LayerFinder() = default;
    /// `kernels`: what the sequence consists of, as indices into Trace::kernels.
    virtual std::optional<Period> find(const SymbolTable& table, SymbolSpan sequence, std::span<const std::uint32_t> kernels) const = 0;
};

/// Nothing if nothing repeats. Where the kernels repeat in file order only, puts them into that order.
std::optional<StepLayers> find_step_layers(const SymbolTable& table, StepKernels& kernels, const LayerFinder& finder);
void put_in_file_order(StepKernels& kernels);

}  // namespace segment
