#pragma once

// The host range that a kernel was launched, or captured, in.

#include <adpipe/model/trace_index.hpp>
#include <adpipe/model/window.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace segment {

class KernelRanges {
public:
    static constexpr std::uint32_t none = adpipe::RangeIndex::none;

    /// `pattern` as for name_fits.
    KernelRanges(std::shared_ptr<const adpipe::Window> window, const std::string& pattern);
    /// What the outermost range of such a name around the kernel's launch is of: ranges with the same number behind the
    /// pattern ("model.layers.3", "model.layers.3.mlp") are of the same layer, ranges without one of a layer each.
    /// `none` if there is no such range.
    std::uint32_t layer_of(std::uint32_t kernel) const;

private:
    std::uint32_t outermost(std::uint64_t thread, adpipe::Nanoseconds time) const;

    std::shared_ptr<const adpipe::Window> window_;
    const adpipe::Trace& trace_;
    adpipe::RangeIndex ranges_;
    adpipe::LaunchIndex launches_;
    std::vector<std::uint32_t> layer_;  ///< per range; none: its name does not fit
};

}  // namespace segment
