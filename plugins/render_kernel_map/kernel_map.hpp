#pragma once

// Two kinds of layer laid side by side, kernel by kernel: prefill beside decode, or one machine beside another.

#include <adpipe/model/operators.hpp>
#include <adpipe/render/layer_profile.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace adpipe::kernel_map {

/// One kernel of a layer, with what its name and its launches tell.
struct Cell {
    std::uint32_t position = 0;
    std::string part;  ///< what it does and where: "gemm before attention"
    KernelName name;
    std::string full_name;  ///< without "void "
    std::string op;         ///< operator that launched it; empty: not known
    KernelCategory category = KernelCategory::other;
    render::Spread time;
    bool regular = true;              ///< false: runs only in some layers of the kind
    std::vector<LaunchShape> shapes;  ///< the commonest first; empty where the trace does not tell
};

/// A kind of layer in steps of one phase and batch size.
struct Side {
    std::string title;  ///< "prefill", "decode, batch size 16"
    std::string trace;  ///< name of the file
    bool simulated = false;
    std::string layers;  ///< "0-2, 5"
    std::uint32_t layer_count = 0;
    std::uint32_t steps = 0;
    Nanoseconds total = 0;  ///< of all kernels over layers and steps
    render::Spread layer_sum;
    render::Spread layer_wall;
    std::vector<Cell> cells;  ///< in the order in which they run
};

enum class Verdict : std::uint8_t {
    same,          ///< the same kernel, launched alike as far as the trace tells
    launch,        ///< the same kernel with another grid, block, …
    parameters,    ///< of the same kind, with other parameters in its name
    other_kernel,  ///< another kernel for the same work
    only_left,
    only_right,
};
std::string_view verdict_text(Verdict verdict) noexcept;

inline constexpr std::size_t no_cell = std::numeric_limits<std::size_t>::max();

struct Row {
    std::size_t left = no_cell;  ///< index into Side::cells
    std::size_t right = no_cell;
    Verdict verdict = Verdict::same;
    bool certain = true;                   ///< false: another alignment that is as good would not make this pair
    std::vector<std::string> differences;  ///< "tile 128x256x64 → 64x16x64"
};

struct KernelMap {
    Side left;
    Side right;
    std::vector<Row> rows;  ///< in the order of both sides
};

/// Fills a side from a profile of `attribution`'s steps. `operators`: of its trace, or nullptr.
Side make_side(const Layers& layers, const Attribution& attribution, const render::LayerProfile& profile, const KernelNames& names,
               const Operators* operators);

/// Lays the sides side by side as a whole and in order.
KernelMap make_map(Side left, Side right);

/// "prefill", "decode, batch size 16"
std::string steps_title(const render::LayerProfile& profile);

}  // namespace adpipe::kernel_map
