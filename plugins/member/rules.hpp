#pragma once

#include <adpipe/model/layers.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::member {

/// Puts ops into a group: by a weight that they use, or by the op.
struct GroupRule {
    std::vector<std::string> weights;     ///< patterns for a weight's name after the layer's number; empty: any
    std::vector<std::string> ops;         ///< patterns for the op without namespace and overload; empty: any
    std::vector<std::string> layer_uses;  ///< the layer must use a weight, or call an op, that matches one of these; empty: any layer
    Group group = Group::other;
    std::string sub_group;
};

/// How weights are called and which op forms which group: knowledge of model families, from YAML files. Later files add to earlier ones.
struct Rules {
    std::vector<std::string> layer_words;     ///< modules that hold numbered layers: "layers", "h"
    std::vector<std::string> module_names;    ///< module names with an underscore inside: "language_model"
    std::vector<std::string> weight_endings;  ///< patterns of names of weights that are passed to a part as inputs
    std::vector<std::string> once_ops;        ///< ops that prepare what all layers read
    std::vector<std::string> tables;          ///< weights of no layer, even where one layer alone reads them
    std::vector<GroupRule> groups;            ///< the first that matches counts

    /// Adds what a file says. Throws Error with file, line and column for anything that is not as docs/formats say.
    void add_file(const std::filesystem::path& file);
};

bool matches_any(const std::vector<std::string>& patterns, std::string_view text);

}  // namespace adpipe::member
