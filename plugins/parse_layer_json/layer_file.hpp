#pragma once

#include <adpipe/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::layer_json {

// The layer JSON as it is written: docs/formats.md, and TensorRT-LLM's ad-layer-visualizer, which defined it.

/// Faults that are told of one file.
inline constexpr std::size_t most_faults = 20;

struct Weight {
    std::string name;
    std::string shape;
    std::string dtype;
};

struct Node {
    std::string id;
    std::string op;
    std::string shape;
    std::string dtype;
    std::string group;
    std::string sub_group;
    std::string reason;  ///< "x_reason"; empty if the file has none
    std::vector<std::string> inputs;
    std::vector<Weight> weights;
    double kernel_us = 0;  ///< sum of the durations of its kernels
    std::uint32_t kernel_count = 0;
};

struct Link {
    std::string from;
    std::string to;
    bool memory = false;  ///< through an operand written in place ("x_kind")
};

struct ExternalInput {
    std::string id;
    std::string label;
    std::string shape;
    std::string dtype;  ///< "x_dtype"; empty if the file has none
};

struct LayerFile {
    std::int32_t layer = 0;
    std::string source_file;
    std::string module;  ///< "x_module"
    std::vector<Node> nodes;
    std::vector<Link> links;
    std::vector<ExternalInput> inputs;
    std::vector<std::string> hands_on;  ///< "x_boundary_out"
};

/// Reads the text. Throws Error with up to 20 diagnostics if it is no JSON, or a field is missing or of another kind.
LayerFile read_layer_file(const std::filesystem::path& path, std::string_view text);

}  // namespace adpipe::layer_json
