#include "cli/option_text.hpp"

#include "cli/console.hpp"

#include <fmt/format.h>

#include <variant>

namespace adpipe::cli {
namespace {

struct AsJson {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return json_text(value); }
    std::string operator()(const std::vector<std::string>& value) const { return json_list(value); }
};

}  // namespace

std::string json_list(const std::vector<std::string>& texts) {
    std::string list = "[";
    for (const std::string& text : texts) list += (list.size() == 1 ? "" : ", ") + json_text(text);
    return list + "]";
}

std::string default_json(const OptionDecl& option) { return std::visit(AsJson{}, option.default_value()); }

std::string default_text(const OptionDecl& option) {
    const OptionValue value = option.default_value();
    if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? "none" : *text;
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        return list->empty() ? "none" : fmt::format("[{}]", fmt::join(*list, ", "));
    }
    return std::visit(AsJson{}, value);
}

}  // namespace adpipe::cli
