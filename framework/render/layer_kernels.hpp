#pragma once

#include <adpipe/render/layer_view.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace adpipe::render {

/// The kernels of the chosen steps, sorted by the layer whose time they are.
class KernelsByLayer {
public:
    KernelsByLayer() = default;
    KernelsByLayer(const GraphModel& graph, const Layers& layers, const Attribution& attribution);

    /// Sets `kernels`, `kernels_by_node` and `times` of a view whose other members are set.
    void fill(LayerView& view) const;
    std::uint32_t layers_with_kernels() const noexcept;

private:
    struct Occurrence {
        std::uint32_t step;    ///< index into steps_
        std::uint32_t kernel;  ///< index into Trace::kernels
    };

    std::size_t bucket_of(const GraphModel& graph, const Layers& layers, const Attribution& attribution, std::uint32_t kernel,
                          std::optional<std::uint16_t> module) const;
    std::vector<KernelUse> kernel_uses(const Attribution& attribution, const std::vector<Occurrence>& occurrences) const;

    std::vector<std::uint32_t> steps_;                   ///< indices into Window::steps
    std::vector<std::optional<std::uint16_t>> modules_;  ///< per step: whose nodes launched its kernels
    std::vector<std::vector<Occurrence>> by_layer_;      ///< index as Layers::layers; then one for kernels of no known layer
    Nanoseconds outside_ = 0;                            ///< in one step, of kernels of no known layer
    std::vector<Unattributed> outside_by_reason_;
};

}  // namespace adpipe::render
