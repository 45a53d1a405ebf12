#include "occupancy.hpp"

#include <algorithm>
#include <array>

namespace adpipe::walkthrough {

namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t piece) { return (value + piece - 1) / piece * piece; }

std::int64_t product(const std::array<std::int32_t, 3>& size) {
    std::int64_t result = 1;
    for (const std::int32_t s : size) {
        if (s < 0) return -1;
        result *= s;
    }
    return result;
}

struct BlockLimit {
    std::int32_t major;
    std::int32_t minor;
    std::int32_t blocks;
};
/// Resident blocks of a multiprocessor by compute capability, from the technical specifications in the CUDA C++
/// Programming Guide: PyTorch's profiler does not write them.
constexpr std::array<BlockLimit, 9> block_limits{
    {{7, 0, 32}, {7, 5, 16}, {8, 0, 32}, {8, 6, 16}, {8, 7, 16}, {8, 9, 24}, {9, 0, 32}, {10, 0, 32}, {12, 0, 24}}};

std::int64_t blocks_limit(const Device& device) {
    if (device.blocks_per_multiprocessor > 0) return device.blocks_per_multiprocessor;
    for (const BlockLimit& limit : block_limits) {
        if (limit.major == device.compute_major && limit.minor == device.compute_minor) return limit.blocks;
    }
    return -1;
}

void take(Occupancy& result, std::int64_t bound, const char* name) {
    if (bound < 0 || (result.blocks >= 0 && bound >= result.blocks)) return;
    result.blocks = bound;
    result.limited_by = name;
}

bool is_of_amd(const Device& device) {
    for (const char* word : {"AMD", "Radeon", "Instinct", "gfx"}) {
        if (device.name.find(word) != std::string::npos) return true;
    }
    return device.warp_size == 64;
}

/// Waves of CDNA 2 to 4: earlier ones hold ten waves a SIMD, 2560 threads a compute unit, and have another register
/// file.
bool is_cdna(const Device& device) {
    return device.warp_size == 64 && device.compute_major == 9 && device.threads_per_multiprocessor == 2048;
}

Occupancy occupancy_of_waves(const LaunchShape& shape, const Device& device) {
    constexpr std::int64_t simds = 4;
    constexpr std::int64_t registers_of_simd = 512;  // for each of the threads of one wave
    constexpr std::int64_t cdna4_memory = 160 * 1024;
    Occupancy result;
    result.waves = true;
    const std::int64_t waves = round_up(block_threads(shape), 64) / 64;
    result.most_warps = device.threads_per_multiprocessor / 64;
    result.by_threads = result.most_warps / waves;
    if (shape.registers > 0) {
        const std::int64_t of_simd = std::min(result.most_warps / simds, registers_of_simd / round_up(shape.registers, 8));
        result.by_registers = of_simd * simds / waves;
    } else result.not_known.emplace_back("registers");
    if (shape.shared_memory >= 0 && device.shared_memory_per_multiprocessor > 0) {
        const std::int64_t piece = device.shared_memory_per_multiprocessor >= cdna4_memory ? 1280 : 512;
        if (shape.shared_memory > 0)
            result.by_shared_memory = device.shared_memory_per_multiprocessor / round_up(shape.shared_memory, piece);
    } else result.not_known.emplace_back("shared memory");
    take(result, result.by_threads, "threads");
    take(result, result.by_registers, "registers");
    take(result, result.by_shared_memory, "shared memory");
    if (result.blocks == 0) {
        result.blocks = -1;
        result.not_known = {"limits into which this launch fits"};
    }
    result.warps = std::max<std::int64_t>(0, result.blocks) * waves;
    return result;
}

}  // namespace

std::int64_t grid_blocks(const LaunchShape& shape) noexcept { return product(shape.grid); }
std::int64_t block_threads(const LaunchShape& shape) noexcept { return product(shape.block); }

Occupancy occupancy_of(const LaunchShape& shape, const Device& device) {
    Occupancy result;
    const std::int64_t threads = block_threads(shape);
    const bool known_rules = is_cdna(device) ||
                             (!is_of_amd(device) && device.warp_size == 32 && device.compute_major >= 7 && device.compute_major <= 12);
    if (threads <= 0) result.not_known.emplace_back("threads of a block");
    if (!known_rules) result.not_known.emplace_back("rules of this device");
    if (device.threads_per_multiprocessor <= 0) result.not_known.emplace_back("threads that a multiprocessor holds");
    if (!result.not_known.empty()) return result;
    if (is_cdna(device)) return occupancy_of_waves(shape, device);

    const std::int64_t warps = round_up(threads, 32) / 32;
    result.most_warps = device.threads_per_multiprocessor / 32;
    result.by_threads = result.most_warps / warps;
    result.by_blocks = blocks_limit(device);
    if (shape.registers > 0 && device.registers_per_multiprocessor > 0) {
        const std::int64_t warps_by_registers = device.registers_per_multiprocessor / round_up(std::int64_t{shape.registers} * 32, 256) /
                                                4 * 4;
        result.by_registers = warps_by_registers / warps;
    } else result.not_known.emplace_back("registers");
    if (shape.shared_memory >= 0 && device.shared_memory_per_multiprocessor > 0) {
        const bool old = device.compute_major == 7;
        const std::int64_t bytes = round_up(shape.shared_memory + (old ? 0 : 1024), old ? 256 : 128);
        if (bytes > 0) result.by_shared_memory = device.shared_memory_per_multiprocessor / bytes;
    } else result.not_known.emplace_back("shared memory");
    if (result.by_blocks < 0) result.not_known.emplace_back("blocks that a multiprocessor holds");
    take(result, result.by_threads, "threads");
    take(result, result.by_registers, "registers");
    take(result, result.by_shared_memory, "shared memory");
    take(result, result.by_blocks, "blocks");
    result.warps = result.blocks * warps;
    return result;
}

}  // namespace adpipe::walkthrough
