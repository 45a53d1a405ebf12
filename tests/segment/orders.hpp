#pragma once

// Orders of kernels as models launch them, with the layer of every kernel.

#include "period.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orders {

using Names = std::vector<std::string>;

/// A layer's kernels: norms, projections, a token mixer, a feed-forward network.
Names dense_layer();
Names moe_layer();
Names linear_attention_layer();
Names state_space_layer();  ///< a mixer without a feed-forward network
Names sliding_layer();

struct Order {
    Names kernels;
    std::vector<std::int32_t> layer;  ///< per kernel; -1 outside of all layers

    Order& outside(const Names& names);
    Order& layers(const Names& names, std::size_t count = 1);
};

/// embedding + layers + final norm, lm_head, sampling
Order model(const std::vector<Names>& layers);

/// The layers that the segmentation finds, in the form of Order::layer; empty if it finds none.
struct Found {
    std::vector<std::int32_t> layer;
    std::vector<std::uint32_t> kind;  ///< per layer
    double confidence = 0;
    bool any = false;
};
Found found_in(const Names& kernels);

/// Share of kernels in their layer.
double agreement(const Order& order, const Found& found);

}  // namespace orders
