#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adpipe {

/// Layers of a program that run the same kernels, but for departures that the attribution's reasons name.
struct FoundKind {
    std::uint32_t layers = 0;   ///< how many layers are of this kind
    std::uint32_t kernels = 0;  ///< of the layer that stands for the kind
    std::int32_t example = 0;   ///< index into Layers::layers of that layer
};

/// Another way to read the same order of kernels.
struct OtherReading {
    std::uint32_t layers = 0;
    std::uint32_t kernels_per_layer = 0;  ///< of its commonest kind
    double cost = 0;                      ///< length of its description over that of the chosen one; the chosen one is 1
};

/// Steps that run the same kernels, and the layers found in them. One module of the graph that the stage made.
struct FoundProgram {
    std::string name;                  ///< "decode_bs16"; also the name of the module
    std::uint16_t module = 0;          ///< index into GraphModel::modules
    std::vector<std::uint32_t> steps;  ///< indices into Window::steps of the attribution's window
    std::vector<FoundKind> kinds;      ///< by Layer::kind
    std::uint32_t layers = 0;
    std::uint32_t stacks = 1;     ///< runs of layers with something else between them
    std::string first_kernel;     ///< short name of what begins a layer
    std::string order;            ///< which order of kernels repeats: "launch order", "file order"
    bool times_mixed_up = false;  ///< the kernels' names repeat in file order only: the profiler gave some kernels the times of others
    double confidence = 0;        ///< 0 to 1
    std::optional<OtherReading> runner_up;
};

/// How layers were found in a trace without a graph dump.
struct Segmentation {
    std::uint64_t graph_digest = 0;  ///< of the graph that the stage made
    std::string strategy;            ///< name of the stage that decided
    std::vector<FoundProgram> programs;
    /// Steps in which nothing repeats as layers do: indices into Window::steps. They are not among the chosen steps of
    /// the attribution's window.
    std::vector<std::uint32_t> steps_without_layers;
    /// Passes of which the recording has a part: indices into Window::steps, where Step::missing says which. Not among
    /// the chosen steps either.
    std::vector<std::uint32_t> steps_cut_off;
};

template <>
struct ArtifactTraits<Segmentation> {
    static constexpr const char* id = "segmentation/1";
};

}  // namespace adpipe
