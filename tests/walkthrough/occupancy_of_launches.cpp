// For each line "major minor threads registers shared_memory threads_per_sm registers_per_sm shared_memory_per_sm": how many blocks a multiprocessor holds,
// and how many warps these are.

#include "occupancy.hpp"

#include <iostream>

int main() {
    adpipe::Device device;
    device.warp_size = 32;
    adpipe::LaunchShape shape;
    shape.block = {1, 1, 1};
    while (std::cin >> device.compute_major >> device.compute_minor >> shape.block[0] >> shape.registers >> shape.shared_memory >>
           device.threads_per_multiprocessor >> device.registers_per_multiprocessor >> device.shared_memory_per_multiprocessor) {
        const adpipe::walkthrough::Occupancy occupancy = adpipe::walkthrough::occupancy_of(shape, device);
        std::cout << occupancy.blocks << ' ' << occupancy.warps << ' ' << occupancy.most_warps << '\n';
    }
}
