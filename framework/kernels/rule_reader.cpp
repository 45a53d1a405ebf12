#include "kernels/rule_reader.hpp"

#include "kernels/kernel_text.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

namespace adpipe::kernels {

namespace {

std::optional<KernelCategory> category_named(std::string_view text) {
    for (std::size_t i = 0; i < kernel_category_count; ++i) {
        const auto category = static_cast<KernelCategory>(i);
        if (category_text(category) == text) return category;
    }
    return {};
}

class Reader {
public:
    Reader(const std::filesystem::path& file, RuleSet& set) : file_{file.string()}, set_{set} {}

    void read(const YAML::Node& root) {
        check_keys(root, {"library", "rules"});
        const std::string_view library = keep(text_of(root, "library"));
        const YAML::Node rules = root["rules"];
        if (!rules || !rules.IsSequence()) fail(root, "'rules' must be a list");
        for (const YAML::Node& node : rules) read_rule(node, library);
    }

private:
    [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const {
        throw RuleError(message, file_, node.Mark().is_null() ? 0 : node.Mark().line + 1);
    }

    void check_keys(const YAML::Node& map, const std::vector<std::string_view>& known) const {
        if (!map.IsMap()) fail(map, "expected a mapping");
        std::vector<std::string> seen;
        for (const auto& entry : map) {
            const auto key = entry.first.as<std::string>();
            if (std::find(known.begin(), known.end(), key) == known.end()) fail(entry.first, "unknown key '" + key + "'");
            if (std::find(seen.begin(), seen.end(), key) != seen.end()) fail(entry.first, "the key '" + key + "' stands twice");
            seen.push_back(key);
        }
    }

    std::string text_of(const YAML::Node& map, const char* key) const {
        const YAML::Node value = map[key];
        if (!value || !value.IsScalar()) fail(map, std::string{"'"} + key + "' must be a text");
        return value.as<std::string>();
    }

    std::string_view keep(std::string text) { return set_.texts.emplace_back(std::move(text)); }

    /// A text or a list of texts.
    std::span<const std::string_view> texts(const YAML::Node& map, const char* key, bool lower) {
        std::vector<std::string_view>& list = set_.lists.emplace_back();
        const YAML::Node value = map[key];
        if (!value) return list;
        if (!value.IsScalar() && !value.IsSequence()) fail(value, std::string{"'"} + key + "' must be a text or a list of texts");
        const auto add = [&](const YAML::Node& node) {
            if (!node.IsScalar() || node.as<std::string>().empty()) fail(node, std::string{"'"} + key + "' holds an empty text");
            list.push_back(keep(lower ? lower_case(node.as<std::string>()) : node.as<std::string>()));
        };
        if (value.IsScalar()) add(value);
        else std::for_each(value.begin(), value.end(), add);
        return list;
    }

    std::span<const NamedText> named_texts(const YAML::Node& map, const char* key) {
        std::vector<NamedText>& list = set_.pairs.emplace_back();
        const YAML::Node value = map[key];
        if (!value) return list;
        if (!value.IsMap()) fail(value, std::string{"'"} + key + "' must be a mapping of texts");
        for (const auto& entry : value) {
            if (!entry.second.IsScalar()) fail(entry.second, "expected a text");
            list.push_back({keep(entry.first.as<std::string>()), keep(entry.second.as<std::string>())});
        }
        return list;
    }

    std::span<const TemplateArguments> template_list(const YAML::Node& map) {
        std::vector<TemplateArguments>& list = set_.templates.emplace_back();
        const YAML::Node value = map["arguments"];
        if (!value) return list;
        if (!value.IsMap()) fail(value, "'arguments' must map names of templates to numbered parameters");
        for (const auto& entry : value) {
            if (!entry.second.IsMap()) fail(entry.second, "expected a mapping from positions to names");
            std::vector<NumberedArgument>& numbered = set_.arguments.emplace_back();
            for (const auto& argument : entry.second) {
                unsigned position = 0;
                if (!YAML::convert<unsigned>::decode(argument.first, position)) fail(argument.first, "expected a position");
                numbered.push_back({position, keep(argument.second.as<std::string>())});
            }
            list.push_back({keep(entry.first.as<std::string>()), numbered});
        }
        return list;
    }

    std::span<const LetterCode> letter_codes(const YAML::Node& map) {
        std::vector<LetterCode>& list = set_.letters.emplace_back();
        const YAML::Node value = map["letters"];
        if (!value) return list;
        if (!value.IsMap()) fail(value, "'letters' must map fields to what their letters mean");
        for (const auto& entry : value) {
            check_keys(entry.second, {"means", "orders"});
            LetterCode code{keep(entry.first.as<std::string>()), named_texts(entry.second, "means"), texts(entry.second, "orders", false)};
            for (const NamedText& meaning : code.means) {
                if (meaning.name.size() != 1) fail(entry.second, "'means' must map single letters to words");
            }
            if (code.means.empty() || code.orders.empty()) fail(entry.second, "'means' and 'orders' are both needed");
            list.push_back(code);
        }
        return list;
    }

    void read_rule(const YAML::Node& node, std::string_view library) {
        check_keys(node, {"rule", "library", "category", "name", "has", "any", "lacks", "short", "read", "arguments", "flags", "letters",
                          "parameters", "example"});
        Rule rule;
        rule.library = node["library"] ? keep(text_of(node, "library")) : library;
        rule.id = keep(std::filesystem::path{file_}.stem().string() + "/" + text_of(node, "rule"));
        for (const Rule& other : set_.rules) {
            if (other.id == rule.id) fail(node, "the rule '" + std::string{rule.id} + "' stands twice");
        }
        const std::string category = text_of(node, "category");
        const auto known = category_named(category);
        if (!known) fail(node["category"], "unknown category '" + category + "'");
        rule.category = *known;
        rule.names = texts(node, "name", true);
        if (rule.names.empty()) fail(node, "'name' is missing");
        rule.has = texts(node, "has", true);
        rule.any = texts(node, "any", true);
        rule.lacks = texts(node, "lacks", true);
        rule.read = texts(node, "read", false);
        rule.templates = template_list(node);
        rule.flags = named_texts(node, "flags");
        rule.parameters = named_texts(node, "parameters");
        rule.letters = letter_codes(node);
        if (node["short"]) rule.short_name = keep(text_of(node, "short"));
        read_example(node, rule);
        set_.rules.push_back(rule);
    }

    void read_example(const YAML::Node& node, const Rule& rule) {
        const YAML::Node example = node["example"];
        if (!example) fail(node, "'example' is missing: a name that the rule decodes");
        RuleExample& kept = set_.examples.emplace_back();
        kept.rule = rule.id;
        if (example.IsScalar()) {
            kept.name = example.as<std::string>();
            return;
        }
        check_keys(example, {"name", "gives"});
        kept.name = text_of(example, "name");
        for (const auto& entry : example["gives"]) {
            kept.parameters.push_back({entry.first.as<std::string>(), entry.second.as<std::string>()});
        }
    }

    std::string file_;
    RuleSet& set_;
};

}  // namespace

void read_rules(const std::filesystem::path& file, RuleSet& set) {
    std::ifstream stream{file};
    if (!stream) throw RuleError("cannot be read", file.string(), 0);
    const std::string text{std::istreambuf_iterator<char>{stream}, {}};
    try {
        Reader{file, set}.read(YAML::Load(text));
    } catch (const YAML::Exception& error) {
        throw RuleError(error.msg, file.string(), error.mark.is_null() ? 0 : error.mark.line + 1);
    }
}

}  // namespace adpipe::kernels
