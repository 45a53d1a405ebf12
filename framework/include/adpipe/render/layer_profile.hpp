#pragma once

// The kernels of layers that are alike, position by position, over layers and steps: what tables of layers show. Works
// on layers from a dump and on those found in a trace. Pure; any thread.

#include <adpipe/export.hpp>
#include <adpipe/kernel_names.hpp>
#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/operators.hpp>
#include <adpipe/render/layer_view.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace adpipe::render {

/// One kernel of a kind of layer.
struct ProfileRow {
    /// From 0. What runs only in some layers has the position of the kernel that it stands for, or else of the one
    /// before it.
    std::uint32_t position = 0;
    StringId name = 0;  ///< in Trace::strings
    KernelKind kind = KernelKind::kernel;
    VertexId node = no_vertex;  ///< of the example layer; no_vertex: not known, or only in layers that depart from it
    bool regular = true;        ///< in the example; false: runs only in some layers of the kind
    Spread time;                ///< over layers and steps; `count` is how often it ran
    std::uint32_t example = 0;  ///< one of its kernels, index into Trace::kernels; of regular rows all of the same execution of a layer
    std::vector<std::uint32_t> kernels;  ///< all of them
    /// How it was launched: indices into Trace::shapes, the commonest first; empty where the trace does not tell.
    std::vector<std::uint32_t> shapes;
};

/// Layers of one kind of one module, in steps of one phase and batch size.
struct LayerProfile {
    std::uint16_t module = 0;
    std::uint32_t kind = 0;
    Phase phase = Phase::unknown;
    std::int64_t batch_size = -1;
    std::vector<std::uint32_t> layers;  ///< indices into Layers::layers, those with kernels
    std::uint32_t steps = 0;
    std::uint32_t executions = 0;  ///< of a layer in a step
    std::vector<ProfileRow> rows;  ///< in the order in which they run
    Nanoseconds total = 0;         ///< of all rows: the sum of the durations of all kernels of these layers in these steps
    Spread layer_sum;              ///< of the kernels of one layer in one step
    Spread layer_wall;             ///< length of the union of their intervals
};

/// What the profiles leave out, so that totals can be shown to add up: profiles + outside + unknown = all.
struct ProfileTotals {
    Nanoseconds all = 0;        ///< kernels of chosen steps
    Nanoseconds in_layers = 0;  ///< in profiles
    Nanoseconds outside = 0;    ///< prologue, epilogue
    Nanoseconds unknown = 0;    ///< of no known layer
    std::uint32_t kernels = 0, kernels_in_layers = 0, kernels_outside = 0, kernels_unknown = 0;
};

struct LayerProfiles {
    std::vector<LayerProfile> profiles;  ///< by module, phase, batch size, kind
    ProfileTotals totals;
};

/// Over the chosen steps of the attribution's window.
ADPIPE_EXPORT LayerProfiles layer_profiles(const GraphModel& graph, const Layers& layers, const Attribution& attribution);

/// True if the operator of a kernel in one of the profiles is known.
ADPIPE_EXPORT bool any_operator(const Operators& operators, const LayerProfiles& profiles);

/// "3-60", "0-2, 5": numbers of layers, ascending, runs joined.
ADPIPE_EXPORT std::string number_ranges(std::vector<std::int64_t> numbers);

}  // namespace adpipe::render
