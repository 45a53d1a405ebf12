#pragma once

#include <adpipe/export.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace adpipe {

/// What a pipeline config can say for an option. The host makes it from YAML or `--set`, checks it against the OptionDecl and hands it
/// to the stage; no YAML type crosses the plugin boundary. Paths arrive absolute.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

enum class OptionType : std::uint8_t { boolean, integer, real, text, path, text_list, path_list };

/// One option of a stage: static data, used to check configs, to fill the stage's options struct, for `adpipe inspect` and the docs.
struct OptionDecl {
    const char* name;
    const char* doc;  ///< one sentence
    OptionType type;
    bool required;
    const char* choices;  ///< allowed texts separated by '|', or nullptr
    double minimum;       ///< for numbers, inclusive
    double maximum;
    void (*assign)(void* options, const OptionValue& value);  ///< `value` already has the type that `type` asks for
    OptionValue (*default_value)();
};

struct OptionLimits {
    bool required = false;
    const char* choices = nullptr;
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
};

namespace detail {

template <class>
struct MemberPointer;
template <class Struct, class Value>
struct MemberPointer<Value Struct::*> {
    using StructType = Struct;
    using ValueType = Value;
};

template <class T>
constexpr OptionType option_type() {
    if constexpr (std::is_same_v<T, bool>) {
        return OptionType::boolean;
    } else if constexpr (std::is_integral_v<T>) {
        return OptionType::integer;
    } else if constexpr (std::is_floating_point_v<T>) {
        return OptionType::real;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return OptionType::text;
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
        return OptionType::path;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return OptionType::text_list;
    } else {
        static_assert(std::is_same_v<T, std::vector<std::filesystem::path>>, "not an option type");
        return OptionType::path_list;
    }
}

template <class T>
T from_option(const OptionValue& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return std::get<bool>(value);
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(std::get<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(std::get<double>(value));
    } else if constexpr (std::is_same_v<T, std::vector<std::filesystem::path>>) {
        const auto& texts = std::get<std::vector<std::string>>(value);
        return T(texts.begin(), texts.end());
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return std::get<std::vector<std::string>>(value);
    } else {
        return T(std::get<std::string>(value));
    }
}

template <class T>
OptionValue to_option(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value;
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<double>(value);
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
        return value.string();
    } else if constexpr (std::is_same_v<T, std::vector<std::filesystem::path>>) {
        std::vector<std::string> texts;
        for (const auto& path : value) texts.push_back(path.string());
        return texts;
    } else {
        return value;
    }
}

}  // namespace detail

/// Binds a member of a stage's options struct: `option<&Options::fold>("fold", "Which nodes to fold.", {.choices = "none|shape"})`.
/// The default is the member's value in a default-constructed struct. The host checks ranges, so integer members may be narrow
/// if the limits say so.
template <auto Member>
constexpr OptionDecl option(const char* name, const char* doc, OptionLimits limits = {}) {
    using Struct = typename detail::MemberPointer<decltype(Member)>::StructType;
    using Value = typename detail::MemberPointer<decltype(Member)>::ValueType;
    return OptionDecl{
        name,
        doc,
        detail::option_type<Value>(),
        limits.required,
        limits.choices,
        limits.minimum,
        limits.maximum,
        [](void* options, const OptionValue& value) { static_cast<Struct*>(options)->*Member = detail::from_option<Value>(value); },
        [] { return detail::to_option(Struct{}.*Member); },
    };
}

/// An option that the config gave, with its declaration; what a stage is created from.
struct GivenOption {
    const OptionDecl* decl;
    OptionValue value;
};

}  // namespace adpipe
