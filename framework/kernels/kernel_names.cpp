#include <adpipe/kernel_names.hpp>

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/decoded_names.hpp>

#include "kernels/kernel_text.hpp"
#include "kernels/rule_reader.hpp"

#include <algorithm>
#include <utility>

namespace adpipe {

namespace {

using namespace kernels;

/// A longer text is looked at up to here: what tells kernels apart stands at the beginning.
constexpr std::size_t longest_text = 8192;
constexpr std::size_t longest_short_name = 60;

struct Subject {
    std::string_view text;  ///< demangled
    std::string lower_text;
    std::string lower_function;
};

/// How much of the name the rule fixes: the number of characters that it compares; 0: it does not match.
std::size_t match_strength(const Rule& rule, const Subject& subject) {
    std::size_t strength = 0;
    for (const std::string_view pattern : rule.names) {
        if (!glob_matches(pattern, subject.lower_function)) continue;
        const auto stars = static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
        strength = std::max(strength, pattern.size() - stars + 1);
    }
    if (strength == 0) return 0;
    for (const std::string_view part : rule.has) {
        if (subject.lower_text.find(part) == std::string::npos) return 0;
        strength += part.size();
    }
    std::size_t best = 0;
    for (const std::string_view part : rule.any) {
        if (subject.lower_text.find(part) != std::string::npos) best = std::max(best, part.size());
    }
    if (best == 0 && !rule.any.empty()) return 0;
    for (const std::string_view part : rule.lacks) {
        if (subject.lower_text.find(part) != std::string::npos) return 0;
    }
    return strength + best;
}

const Rule* strongest(std::span<const Rule> rules, const Subject& subject, bool of_a_library) {
    const Rule* best = nullptr;
    std::size_t best_strength = 0;
    for (const Rule& rule : rules) {
        if (rule.library.empty() == of_a_library) continue;
        const std::size_t strength = match_strength(rule, subject);
        if (strength > best_strength) {
            best_strength = strength;
            best = &rule;
        }
    }
    return best;
}

/// Rules of a library go before those that only know what a word in a name means.
const Rule* best_rule(std::span<const Rule> rules, const Subject& subject) {
    const Rule* rule = strongest(rules, subject, true);
    return rule != nullptr ? rule : strongest(rules, subject, false);
}

/// What the rule's patterns, template positions and flags find in the name.
class ParameterReader {
public:
    ParameterReader(const Rule& rule, std::string_view text) : text_{text} {
        for (const std::string_view pattern : rule.read) read_pattern(pattern, text, captures_);
        for (const TemplateArguments& wanted : rule.templates) read_template(wanted);
        for (const NamedText& flag : rule.flags) {
            if (text.find(flag.text) != std::string_view::npos) captures_.push_back({flag.name, "yes"});
        }
    }

    const std::vector<Capture>& captures() const noexcept { return captures_; }

    std::vector<KernelParameter> parameters(const Rule& rule) const {
        std::vector<KernelParameter> found;
        std::vector<std::string_view> used;
        std::string value;
        for (const NamedText& wanted : rule.parameters) {
            if (!fill_template(wanted.text, captures_, value)) continue;
            const bool has = std::any_of(found.begin(), found.end(), [&](const auto& p) { return p.name == wanted.name; });
            if (!has) found.push_back({std::string{wanted.name}, value});
        }
        for (const Capture& capture : captures_) {
            if (spell_out(rule, capture, found)) continue;
            const bool internal = std::any_of(rule.parameters.begin(), rule.parameters.end(), [&](const NamedText& wanted) {
                return wanted.text.find("{" + std::string{capture.name} + "}") != std::string_view::npos;
            });
            const bool has = std::any_of(found.begin(), found.end(), [&](const auto& p) { return p.name == capture.name; });
            if (!internal && !has) found.push_back({std::string{capture.name}, std::string{capture.text}});
        }
        return found;
    }

private:
    void read_template(const TemplateArguments& wanted) {
        std::vector<std::string> arguments = template_arguments(text_, wanted.name);
        for (const NumberedArgument& argument : wanted.arguments) {
            if (argument.position >= arguments.size()) continue;
            owned_.push_back(std::make_unique<std::string>(std::move(arguments[argument.position])));
            captures_.push_back({argument.name, *owned_.back()});
        }
    }

    /// Adds what the letters of a field stand for; false if the rule does not say.
    static bool spell_out(const Rule& rule, const Capture& capture, std::vector<KernelParameter>& found) {
        const auto code = std::find_if(rule.letters.begin(), rule.letters.end(),
                                       [&](const LetterCode& candidate) { return candidate.field == capture.name; });
        if (code == rule.letters.end()) return false;
        for (const std::string_view order : code->orders) {
            const std::vector<std::string_view> names = words_of(order);
            if (names.size() != capture.text.size()) continue;
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (names[i] != "-") found.push_back({std::string{names[i]}, word_of(*code, capture.text.substr(i, 1))});
            }
            return true;
        }
        return false;
    }

    static std::string word_of(const LetterCode& code, std::string_view letter) {
        for (const NamedText& meaning : code.means) {
            if (meaning.name == letter) return std::string{meaning.text};
        }
        return "unknown (" + std::string{letter} + ")";
    }

    static std::vector<std::string_view> words_of(std::string_view text) {
        std::vector<std::string_view> words;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find(' '), text.size());
            if (end > 0) words.push_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return words;
    }

    std::string_view text_;
    std::vector<Capture> captures_;
    std::vector<std::unique_ptr<std::string>> owned_;
};

std::string cut(std::string text) {
    if (text.size() <= longest_short_name) return text;
    std::size_t end = text.rfind('_', longest_short_name);
    if (end == std::string::npos || end < longest_short_name / 2) end = longest_short_name;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // not inside a UTF-8 sequence
    text.resize(end);
    return text;
}

[[noreturn]] void throw_rule_error(const RuleError& error) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-NAM-001";
    diagnostic.message = std::string{"kernel-name rules: "} + error.what();
    diagnostic.where = {error.file, static_cast<std::uint32_t>(std::max(error.line, 0)), 0};
    diagnostic.hint = "docs/kernel-names.md describes the form of such a file";
    throw Error(diagnostic);
}

}  // namespace

std::string_view KernelName::parameter(std::string_view name) const noexcept {
    for (const KernelParameter& p : parameters) {
        if (p.name == name) return p.value;
    }
    return {};
}

struct KernelNames::Rules {
    RuleSet more;
};

KernelNames::KernelNames(const std::vector<std::filesystem::path>& more_rules, std::vector<std::shared_ptr<const DecodedNames>> known)
    : rules_{std::make_unique<Rules>()}, known_{std::move(known)} {
    try {
        for (const std::filesystem::path& file : more_rules) read_rules(file, rules_->more);
    } catch (const RuleError& error) {
        throw_rule_error(error);
    }
}

KernelNames::~KernelNames() = default;

const KernelNames& KernelNames::built_in() {
    static const KernelNames names;
    return names;
}

KernelName KernelNames::decode(std::string_view name) const {
    for (const auto& known : known_) {
        if (const auto found = known->by_name.find(name); found != known->by_name.end()) return found->second;
    }
    KernelName result;
    result.demangled = demangle(name);
    const std::string_view text = std::string_view{result.demangled}.substr(0, longest_text);
    result.function = function_name(text);
    const Subject subject{text, lower_case(text), lower_case(result.function)};
    const Rule* rule = best_rule(rules_->more.rules, subject);
    if (rule == nullptr) rule = best_rule(built_in_rules(), subject);
    result.short_name = std::string{last_component(result.function)};
    if (rule != nullptr) {
        const ParameterReader reader{*rule, text};
        result.library = rule->library;
        result.category = rule->category;
        result.rule = rule->id;
        result.parameters = reader.parameters(*rule);
        std::string short_name;
        if (!rule->short_name.empty() && fill_template(rule->short_name, reader.captures(), short_name)) {
            result.short_name = std::move(short_name);
        }
    }
    result.short_name = cut(std::move(result.short_name));
    return result;
}

}  // namespace adpipe
