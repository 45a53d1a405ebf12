#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::align {

/// Text to find in a lower-case kernel name: parts that follow each other, optionally tied to the start.
struct NamePattern {
    std::vector<std::string> parts;
    bool at_start = false;
    bool matches(std::string_view lower_name) const noexcept;
};
NamePattern parse_name_pattern(std::string_view text);

/// Whole-text match where `*` stands for anything.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

/// A kind of kernels, told by their names.
struct KernelClass {
    std::string name;
    std::string family;
    std::vector<NamePattern> patterns;
    std::vector<NamePattern> exceptions;
    std::vector<std::string> aten_ops;
    bool matches(std::string_view lower_name) const noexcept;
};

/// One kernel, or a run of kernels, that an op launches.
struct LaunchItem {
    enum class What : std::uint8_t { kernel_class, family, any, words };
    What what = What::any;
    std::uint32_t index = 0;  ///< of the class or family
    bool optional = false;
    bool unlikely = false;  ///< optional, and mostly missing
    bool repeats = false;
};
using LaunchSequence = std::vector<LaunchItem>;

enum class CastCondition : std::uint8_t { none, same_dtype, new_dtype, unknown_dtype };

struct OpRule {
    std::vector<std::string> globs;
    CastCondition when = CastCondition::none;
    std::vector<LaunchSequence> alternatives;
    bool class_of_op = false;  ///< "@op": the class that lists this aten op, else any kernel of the family "pointwise"
    double nothing = 0.01;     ///< how likely the op launches no kernel
};

/// The rules file, as data.
struct LaunchRules {
    std::vector<KernelClass> classes;
    std::vector<std::string> families;
    std::vector<OpRule> ops;

    /// First rule for an op, or nullptr.
    const OpRule* find(std::string_view op, CastCondition cast) const noexcept;
};

/// Throws Error with the place in the file if it cannot be read.
LaunchRules read_launch_rules(const std::filesystem::path& file);

}  // namespace adpipe::align
