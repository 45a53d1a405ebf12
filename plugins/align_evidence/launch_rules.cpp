#include "launch_rules.hpp"

#include <adpipe/diagnostic.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace adpipe::align {

namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const YAML::Mark& mark, std::string message) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-ALIGN-001";
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    if (!mark.is_null()) {
        diagnostic.where.line = static_cast<std::uint32_t>(mark.line + 1);
        diagnostic.where.column = static_cast<std::uint32_t>(mark.column + 1);
    }
    throw Error(std::move(diagnostic));
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

class Reader {
public:
    explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

    LaunchRules read() {
        YAML::Node root;
        try {
            root = YAML::LoadFile(file_.string());
        } catch (const YAML::BadFile&) {
            fail(file_, YAML::Mark::null_mark(), "the rules file cannot be read");
        } catch (const YAML::Exception& error) {
            fail(file_, error.mark, "the rules file is not valid YAML: " + error.msg);
        }
        expect_keys(root, {"classes", "ops"});
        read_classes(root["classes"]);
        for (const YAML::Node& rule : sequence(root["ops"])) rules_.ops.push_back(read_rule(rule));
        return std::move(rules_);
    }

private:
    void expect_keys(const YAML::Node& node, const std::set<std::string>& known) const {
        if (!node.IsMap()) fail(file_, node.Mark(), "a map is expected here");
        std::set<std::string> seen;
        for (const auto& entry : node) {
            const std::string key = entry.first.as<std::string>("");
            if (known.count(key) == 0) fail(file_, entry.first.Mark(), "unknown key '" + key + "'");
            if (!seen.insert(key).second) fail(file_, entry.first.Mark(), "the key '" + key + "' is there twice");
        }
    }

    YAML::Node sequence(const YAML::Node& node) const {
        if (!node || !node.IsSequence()) fail(file_, node ? node.Mark() : YAML::Mark::null_mark(), "a list is expected here");
        return node;
    }

    std::vector<std::string> texts(const YAML::Node& node) const {
        std::vector<std::string> result;
        if (!node) return result;
        if (node.IsScalar()) return {node.Scalar()};
        for (const YAML::Node& item : sequence(node)) {
            if (!item.IsScalar()) fail(file_, item.Mark(), "a text is expected here");
            result.push_back(item.Scalar());
        }
        return result;
    }

    void read_classes(const YAML::Node& node) {
        if (!node || !node.IsMap()) fail(file_, node ? node.Mark() : YAML::Mark::null_mark(), "'classes' is missing or not a map");
        for (const auto& entry : node) {
            expect_keys(entry.second, {"family", "kernels", "except", "ops"});
            KernelClass kernel_class;
            kernel_class.name = entry.first.as<std::string>();
            if (class_ids_.count(kernel_class.name) != 0) {
                fail(file_, entry.first.Mark(), "the class '" + kernel_class.name + "' is there twice");
            }
            kernel_class.family = entry.second["family"] ? entry.second["family"].as<std::string>() : kernel_class.name;
            for (const std::string& text : texts(entry.second["kernels"])) kernel_class.patterns.push_back(parse_name_pattern(text));
            for (const std::string& text : texts(entry.second["except"])) kernel_class.exceptions.push_back(parse_name_pattern(text));
            kernel_class.aten_ops = texts(entry.second["ops"]);
            if (family_ids_.emplace(kernel_class.family, rules_.families.size()).second) {
                rules_.families.push_back(kernel_class.family);
            }
            class_ids_.emplace(kernel_class.name, rules_.classes.size());
            rules_.classes.push_back(std::move(kernel_class));
        }
    }

    OpRule read_rule(const YAML::Node& node) {
        expect_keys(node, {"op", "when", "launches", "nothing"});
        OpRule rule;
        rule.globs = texts(node["op"]);
        if (rule.globs.empty()) fail(file_, node.Mark(), "'op' is missing");
        if (node["when"]) rule.when = condition(node["when"]);
        if (node["nothing"]) rule.nothing = frequency(node["nothing"]);
        const YAML::Node launches = node["launches"];
        if (!launches || !launches.IsScalar()) fail(file_, node.Mark(), "'launches' is missing or not a text");
        if (launches.Scalar() == "@op") {
            rule.class_of_op = true;
        } else {
            rule.alternatives = parse_alternatives(launches);
        }
        return rule;
    }

    CastCondition condition(const YAML::Node& node) const {
        const std::string text = node.as<std::string>("");
        if (text == "same_dtype") return CastCondition::same_dtype;
        if (text == "new_dtype") return CastCondition::new_dtype;
        if (text == "unknown_dtype") return CastCondition::unknown_dtype;
        fail(file_, node.Mark(), "'when' must be same_dtype, new_dtype or unknown_dtype, not '" + text + "'");
    }

    double frequency(const YAML::Node& node) const {
        const std::string text = node.as<std::string>("");
        if (text == "always") return 0.9995;
        if (text == "usually") return 0.97;
        if (text == "maybe") return 0.5;
        if (text == "seldom") return 0.1;
        if (text == "rarely") return 0.01;
        fail(file_, node.Mark(), "'nothing' must be always, usually, maybe, seldom or rarely, not '" + text + "'");
    }

    std::vector<LaunchSequence> parse_alternatives(const YAML::Node& node) const {
        std::vector<LaunchSequence> result(1);
        std::string word;
        const std::string text = node.Scalar() + " ";
        for (const char c : text) {
            if (c != ' ') {
                word += c;
            } else if (word == "|") {
                result.emplace_back();
                word.clear();
            } else if (!word.empty()) {
                result.back().push_back(parse_item(node, word));
                word.clear();
            }
        }
        for (const LaunchSequence& sequence : result) {
            if (sequence.empty()) fail(file_, node.Mark(), "an alternative of 'launches' is empty");
        }
        return result;
    }

    LaunchItem parse_item(const YAML::Node& node, std::string word) const {
        LaunchItem item;
        const char mark = word.back();
        if (mark == '?' || mark == '~' || mark == '+' || mark == '*') word.pop_back();
        item.optional = mark == '?' || mark == '~' || mark == '*';
        item.unlikely = mark == '~';
        item.repeats = mark == '+' || mark == '*';
        if (word == "any") return item;
        if (word == "words") {
            item.what = LaunchItem::What::words;
            return item;
        }
        if (const auto found = class_ids_.find(word); found != class_ids_.end()) {
            item.what = LaunchItem::What::kernel_class;
            item.index = static_cast<std::uint32_t>(found->second);
            return item;
        }
        if (const auto found = family_ids_.find(word); found != family_ids_.end()) {
            item.what = LaunchItem::What::family;
            item.index = static_cast<std::uint32_t>(found->second);
            return item;
        }
        fail(file_, node.Mark(), "'" + word + "' in 'launches' is no class and no family");
    }

    std::filesystem::path file_;
    LaunchRules rules_;
    std::map<std::string, std::size_t> class_ids_;
    std::map<std::string, std::size_t> family_ids_;
};

}  // namespace

NamePattern parse_name_pattern(std::string_view text) {
    NamePattern pattern;
    if (!text.empty() && text.front() == '^') {
        pattern.at_start = true;
        text.remove_prefix(1);
    }
    while (!text.empty()) {
        const std::size_t star = text.find('*');
        const std::string_view part = text.substr(0, star);
        if (!part.empty()) pattern.parts.push_back(lower(part));
        text.remove_prefix(star == std::string_view::npos ? text.size() : star + 1);
    }
    return pattern;
}

bool NamePattern::matches(std::string_view lower_name) const noexcept {
    constexpr std::string_view return_type = "void ";
    if (lower_name.substr(0, return_type.size()) == return_type) lower_name.remove_prefix(return_type.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t found = lower_name.find(parts[i], at);
        if (found == std::string_view::npos || (i == 0 && at_start && found != 0)) return false;
        at = found + parts[i].size();
    }
    return !parts.empty();
}

bool KernelClass::matches(std::string_view lower_name) const noexcept {
    const auto hit = [&](const NamePattern& pattern) { return pattern.matches(lower_name); };
    return std::any_of(patterns.begin(), patterns.end(), hit) && std::none_of(exceptions.begin(), exceptions.end(), hit);
}

bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

const OpRule* LaunchRules::find(std::string_view op, CastCondition cast) const noexcept {
    for (const OpRule& rule : ops) {
        if (rule.when != CastCondition::none && rule.when != cast) continue;
        for (const std::string& glob : rule.globs) {
            if (glob_matches(glob, op)) return &rule;
        }
    }
    return nullptr;
}

LaunchRules read_launch_rules(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace adpipe::align
