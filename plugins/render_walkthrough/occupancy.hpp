#pragma once

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace adpipe::walkthrough {

/// How many blocks of a kernel one multiprocessor can hold at a time, by what bounds them. -1: not known, or no bound.
struct Occupancy {
    std::int64_t blocks = -1;     ///< the least of the below; -1 where what is needed for it is not known
    std::int64_t warps = 0;       ///< of these blocks
    std::int64_t most_warps = 0;  ///< that a multiprocessor holds
    std::int64_t by_threads = -1;
    std::int64_t by_registers = -1;
    std::int64_t by_shared_memory = -1;
    std::int64_t by_blocks = -1;
    bool waves = false;                  ///< AMD: a warp is a wavefront of 64 threads
    std::string limited_by;              ///< "registers"
    std::vector<std::string> not_known;  ///< what is missing for the rest: the bound may be lower
    double percent() const noexcept { return most_warps > 0 ? 100.0 * static_cast<double>(warps) / static_cast<double>(most_warps) : 0; }
};

/// By the rules of the CUDA Occupancy Calculator (compute capability 7 to 12): registers are given to a warp in pieces
/// of 256 and to warps in groups of four; shared memory in pieces of 128 bytes (7.x: 256), and from 8.0 on the driver
/// takes 1024 bytes a block for itself. For CDNA 2 to 4 by those of LLVM's AMDGPU backend: each of four SIMDs runs
/// eight waves and has 512 registers a thread, given in pieces of eight; local memory is given in pieces of 512 bytes
/// (CDNA 4: 1280). Nothing is computed for other devices.
Occupancy occupancy_of(const LaunchShape& shape, const Device& device);

/// Blocks of the grid, or -1.
std::int64_t grid_blocks(const LaunchShape& shape) noexcept;
std::int64_t block_threads(const LaunchShape& shape) noexcept;

}  // namespace adpipe::walkthrough
