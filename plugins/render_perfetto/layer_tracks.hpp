#pragma once

#include <adpipe/render/layer_view.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::render_perfetto {

/// Rows of a stream, from the top.
enum class Row : std::uint8_t { layer, group, node, kernel };

struct Slice {
    std::string name;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::size_t layer = 0;  ///< of a kernel: index of its layer's slice in the same stream
};

/// The slices of layers, one list for each row of each stream.
class Tracks {
public:
    /// Adds a layer's kernels in all chosen steps, and what they belong to.
    void add(const render::LayerView& view);
    /// Trace Event JSON. Slices of a row that overlap are drawn in further lanes of it: viewers allow only nesting in one. An arrow leads
    /// from a layer's slice to each of its kernels.
    std::string json(const std::string& title, const std::string& source) const;

private:
    struct Execution;
    void add_runs(const render::LayerView& view, std::int64_t stream, const std::vector<Execution>& executions);

    std::map<std::pair<std::int64_t, Row>, std::vector<Slice>> rows_;
};

}  // namespace adpipe::render_perfetto
