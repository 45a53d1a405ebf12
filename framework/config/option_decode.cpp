#include "config/option_decode.hpp"

#include "config/number_text.hpp"

#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace adpipe {
namespace {

namespace fs = std::filesystem;

bool is_list(OptionType type) { return type == OptionType::text_list || type == OptionType::path_list; }

std::string expected_text(const OptionDecl& option) {
    switch (option.type) {
        case OptionType::boolean: return "true or false";
        case OptionType::integer: return "an integer";
        case OptionType::real: return "a number";
        case OptionType::text: return "a text";
        case OptionType::path: return "a path";
        case OptionType::text_list: return "a list of texts";
        case OptionType::path_list: return "a list of paths";
    }
    return {};
}

std::string limit_text(double limit) {
    const bool is_whole = std::abs(limit) < 1e15 && limit == std::floor(limit);
    return is_whole ? fmt::format("{}", static_cast<std::int64_t>(limit)) : fmt::format("{}", limit);
}

/// The elements of "a,b" or "[a, b]", as the command line writes lists.
std::vector<ConfigText> split(const ConfigText& list) {
    std::string_view rest = list.text;
    if (rest.size() >= 2 && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
    std::vector<ConfigText> elements;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view element = rest.substr(0, comma);
        element.remove_prefix(std::min(element.find_first_not_of(' '), element.size()));
        element = element.substr(0, element.find_last_not_of(' ') + 1);
        elements.push_back({std::string{element}, false, list.origin});
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return elements;
}

/// Decodes the texts of one setting; the first fault ends it.
class Decoder {
public:
    Decoder(const OptionDecl& option, const Setting& setting, std::vector<Diagnostic>& diagnostics)
        : option_{option}, setting_{setting}, diagnostics_{diagnostics} {}

    std::optional<OptionValue> value() {
        switch (setting_.shape) {
            case Setting::Shape::missing: return fault(setting_.origin, "ADP-CFG-013", "a value is missing");
            case Setting::Shape::map: return fault(setting_.origin, "ADP-CFG-013", "found a map");
            case Setting::Shape::list:
                if (!is_list(option_.type)) return fault(setting_.origin, "ADP-CFG-013", "found a list");
                break;
            case Setting::Shape::faulty: return std::nullopt;
            case Setting::Shape::single: break;
        }
        if (!is_list(option_.type)) return single(setting_.values.front());
        std::vector<std::string> texts;
        for (const ConfigText& value : setting_.may_be_split ? split(setting_.values.front()) : setting_.values) {
            auto text = option_.type == OptionType::path_list ? path(value) : choice(value);
            if (!text) return std::nullopt;
            texts.push_back(std::get<std::string>(*text));
        }
        return texts;
    }

private:
    std::optional<OptionValue> single(const ConfigText& value) {
        switch (option_.type) {
            case OptionType::boolean:
                if (!value.quoted && value.text == "true") return OptionValue{true};
                if (!value.quoted && value.text == "false") return OptionValue{false};
                return wrong_type(value);
            case OptionType::integer: return integer(value);
            case OptionType::real: return real(value);
            case OptionType::path: return path(value);
            default: return choice(value);
        }
    }

    std::optional<OptionValue> integer(const ConfigText& value) {
        const auto number = value.quoted ? std::nullopt : parse_integer(value.text);
        if (!number) return wrong_type(value);
        if (!in_range(static_cast<double>(*number))) return out_of_range(value);
        return OptionValue{*number};
    }

    std::optional<OptionValue> real(const ConfigText& value) {
        const auto number = value.quoted ? std::nullopt : parse_real(value.text);
        if (!number) return wrong_type(value);
        if (!in_range(*number)) return out_of_range(value);
        return OptionValue{*number};
    }

    std::optional<OptionValue> choice(const ConfigText& value) {
        const auto choices = option_choices(option_);
        if (choices.empty() || std::find(choices.begin(), choices.end(), value.text) != choices.end()) return OptionValue{value.text};
        Diagnostic diagnostic = error_at(value.origin, "ADP-CFG-015",
                                         fmt::format("option '{}' is one of {}; found '{}'", option_.name, fmt::join(choices, ", "),
                                                     value.text));
        if (const auto near = nearest_name(value.text, choices); !near.empty())
            diagnostic.notes = {fmt::format("did you mean '{}'?", near)};
        diagnostics_.push_back(std::move(diagnostic));
        return std::nullopt;
    }

    std::optional<OptionValue> path(const ConfigText& value) {
        if (value.text.empty()) return fault(value.origin, "ADP-CFG-013", "found an empty text");
        if (value.text == "~" || value.text.rfind("~/", 0) == 0) {
            return fault(value.origin, "ADP-CFG-013", fmt::format("'~' is not expanded in '{}' (write ${{HOME}})", value.text));
        }
        return OptionValue{(setting_.base / value.text).lexically_normal().string()};
    }

    bool in_range(double number) const { return number >= option_.minimum && number <= option_.maximum; }

    std::optional<OptionValue> wrong_type(const ConfigText& value) {
        return fault(value.origin, "ADP-CFG-013", fmt::format("found {}'{}'", value.quoted ? "the text " : "", value.text));
    }

    std::optional<OptionValue> out_of_range(const ConfigText& value) {
        diagnostics_.push_back(
            error_at(value.origin, "ADP-CFG-014",
                     fmt::format("option '{}' must be {}; found {}", option_.name, option_range_text(option_), value.text)));
        return std::nullopt;
    }

    std::optional<OptionValue> fault(const Origin& origin, std::string code, const std::string& found) {
        diagnostics_.push_back(
            error_at(origin, std::move(code), fmt::format("option '{}' takes {}; {}", option_.name, expected_text(option_), found)));
        return std::nullopt;
    }

    const OptionDecl& option_;
    const Setting& setting_;
    std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

std::string option_type_text(OptionType type) {
    switch (type) {
        case OptionType::boolean: return "boolean";
        case OptionType::integer: return "integer";
        case OptionType::real: return "number";
        case OptionType::text: return "text";
        case OptionType::path: return "path";
        case OptionType::text_list: return "list of texts";
        case OptionType::path_list: return "list of paths";
    }
    return {};
}

std::vector<std::string> option_choices(const OptionDecl& option) {
    std::vector<std::string> choices;
    if (option.choices == nullptr) return choices;
    std::string_view rest = option.choices;
    while (true) {
        const std::size_t bar = std::min(rest.find('|'), rest.size());
        choices.emplace_back(rest.substr(0, bar));
        if (bar == rest.size()) return choices;
        rest.remove_prefix(bar + 1);
    }
}

std::string option_range_text(const OptionDecl& option) {
    const bool has_minimum = std::isfinite(option.minimum);
    const bool has_maximum = std::isfinite(option.maximum);
    if (has_minimum && has_maximum) return fmt::format("from {} to {}", limit_text(option.minimum), limit_text(option.maximum));
    if (has_minimum) return fmt::format("at least {}", limit_text(option.minimum));
    if (has_maximum) return fmt::format("at most {}", limit_text(option.maximum));
    return {};
}

std::optional<OptionValue> decode_option(const OptionDecl& option, const Setting& setting, std::vector<Diagnostic>& diagnostics) {
    return Decoder{option, setting, diagnostics}.value();
}

std::vector<GivenOption> decode_options(const StageDecl& stage, const StageConfig& config, std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> names;
    for (const OptionDecl& option : stage.options) names.emplace_back(option.name);

    std::vector<GivenOption> given;
    for (const Setting& setting : config.settings) {
        const auto option = std::find_if(stage.options.begin(), stage.options.end(),
                                         [&](const OptionDecl& known) { return setting.name.text == known.name; });
        if (option == stage.options.end()) {
            Diagnostic diagnostic = error_at(setting.name.origin, "ADP-CFG-012",
                                             fmt::format("unknown option '{}' for stage '{}'", setting.name.text, stage.name));
            diagnostic.notes = {suggestion(setting.name.text, names, "its options")};
            diagnostics.push_back(std::move(diagnostic));
        } else if (auto value = decode_option(*option, setting, diagnostics)) {
            given.push_back({&*option, std::move(*value)});
        }
    }
    for (const OptionDecl& option : stage.options) {
        const bool is_there = std::any_of(config.settings.begin(), config.settings.end(),
                                          [&](const Setting& setting) { return setting.name.text == option.name; });
        if (!option.required || is_there) continue;
        Diagnostic diagnostic = error_at(config.origin, "ADP-CFG-016",
                                         fmt::format("stage '{}' needs the option '{}': {}", stage.name, option.name, option.doc));
        diagnostics.push_back(std::move(diagnostic));
    }
    return given;
}

}  // namespace adpipe
