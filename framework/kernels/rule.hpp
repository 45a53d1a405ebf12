#pragma once

#include <adpipe/kernel_names.hpp>

#include <span>
#include <string_view>

namespace adpipe::kernels {

struct NamedText {
    std::string_view name;
    std::string_view text;
};

struct NumberedArgument {
    unsigned position;  ///< from 0
    std::string_view name;
};

/// Parameters at known positions of a template's arguments.
struct TemplateArguments {
    std::string_view name;  ///< of the template, without namespaces
    std::span<const NumberedArgument> arguments;
};

/// A field whose letters each stand for a word.
struct LetterCode {
    std::string_view field;
    std::span<const NamedText> means;          ///< letter, word
    std::span<const std::string_view> orders;  ///< "dtype accumulator -": names of the parameters, one a letter; '-': none
};

/// One rule, as docs/kernel-names.md describes it. Texts that are compared are in lower case. Owns nothing.
struct Rule {
    std::string_view library;
    std::string_view id;  ///< "cublas/nvjet"
    std::string_view short_name;
    KernelCategory category = KernelCategory::other;
    std::span<const std::string_view> names;
    std::span<const std::string_view> has;
    std::span<const std::string_view> any;
    std::span<const std::string_view> lacks;
    std::span<const std::string_view> read;
    std::span<const TemplateArguments> templates;
    std::span<const NamedText> flags;
    std::span<const NamedText> parameters;
    std::span<const LetterCode> letters;
};

/// Made from configs/rules/kernel_names when adpipe is built.
std::span<const Rule> built_in_rules() noexcept;

}  // namespace adpipe::kernels
