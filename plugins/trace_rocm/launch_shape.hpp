#pragma once

#include <adpipe/model/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace adpipe::rocm {

/// Registers of a thread: accumulation registers lie behind the others, which end at a multiple of four (CDNA 2 and
/// later have one file for both).
inline std::int64_t all_registers(std::int64_t vector, std::int64_t accumulation) {
    return vector >= 0 && accumulation > 0 ? (vector + 3) / 4 * 4 + accumulation : vector;
}

/// AMD's profilers give the grid in work-items; the model has it in blocks. -1 for what is not known.
inline LaunchShape launch_shape(const std::array<std::int64_t, 3>& work_items, const std::array<std::int64_t, 3>& workgroup,
                                std::int64_t registers, std::int64_t shared_memory) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto narrow = [](std::int64_t number) { return number < 0 || number > most ? -1 : static_cast<std::int32_t>(number); };
    LaunchShape shape;
    for (std::size_t i = 0; i < 3; ++i) {
        shape.block[i] = narrow(workgroup[i]);
        if (work_items[i] > 0 && workgroup[i] > 0) shape.grid[i] = narrow((work_items[i] - 1) / workgroup[i] + 1);
    }
    shape.registers = narrow(registers);
    shape.shared_memory = shared_memory < 0 ? -1 : shared_memory;
    return shape;
}

}  // namespace adpipe::rocm
