#include "rules.hpp"

#include "glob.hpp"

#include <adpipe/diagnostic.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>

namespace adpipe::member {

namespace {

constexpr std::array<Group, 8> all_groups{Group::other, Group::norm, Group::attention, Group::mla,
                                          Group::moe,   Group::mlp,  Group::mamba,     Group::gdn};

/// Reads one rules file; every complaint names the place.
class RulesReader {
public:
    RulesReader(const std::filesystem::path& file, Rules& rules) : file_(file), rules_(rules) {}

    void read(const YAML::Node& root) {
        if (!root.IsMap()) fail(root, "a rules file is a map with keys such as `layer_words` and `groups`");
        std::set<std::string> seen;
        for (const auto& entry : root) {
            const std::string key = text(entry.first);
            if (!seen.insert(key).second) fail(entry.first, "the key `" + key + "` is given twice");
            if (key == "layer_words") append(entry.second, rules_.layer_words);
            else if (key == "module_names") append(entry.second, rules_.module_names);
            else if (key == "weight_endings") append(entry.second, rules_.weight_endings);
            else if (key == "once_ops") append(entry.second, rules_.once_ops);
            else if (key == "tables") append(entry.second, rules_.tables);
            else if (key == "groups") read_groups(entry.second);
            else
                fail(entry.first,
                     "unknown key `" + key + "`; known are layer_words, module_names, weight_endings, once_ops, tables, groups");
        }
    }

private:
    void read_groups(const YAML::Node& list) {
        if (!list.IsSequence()) fail(list, "`groups` is a list of rules");
        std::vector<GroupRule> added;
        for (const auto& item : list) added.push_back(read_rule(item));
        // A family's file comes after the common one and must win.
        rules_.groups.insert(rules_.groups.begin(), added.begin(), added.end());
    }

    GroupRule read_rule(const YAML::Node& item) {
        if (!item.IsMap()) fail(item, "a group rule is a map such as {weight: \"*_gate_weight\", group: moe}");
        GroupRule rule;
        bool has_group = false;
        for (const auto& entry : item) {
            const std::string key = text(entry.first);
            if (key == "weight") append(entry.second, rule.weights);
            else if (key == "op") append(entry.second, rule.ops);
            else if (key == "layer_uses") append(entry.second, rule.layer_uses);
            else if (key == "sub_group") rule.sub_group = text(entry.second);
            else if (key == "group") {
                rule.group = group(entry.second);
                has_group = true;
            } else {
                fail(entry.first, "unknown key `" + key + "`; a group rule has weight, op, layer_uses, group, sub_group");
            }
        }
        if (!has_group) fail(item, "a group rule needs `group`");
        if (rule.weights.empty() && rule.ops.empty()) fail(item, "a group rule needs `weight` or `op`");
        return rule;
    }

    Group group(const YAML::Node& node) {
        const std::string name = text(node);
        for (const Group candidate : all_groups) {
            if (group_text(candidate) == name) return candidate;
        }
        fail(node, "unknown group `" + name + "`; known are norm, attention, mla, moe, mlp, mamba, gdn, other");
    }

    /// One text or a list of texts.
    void append(const YAML::Node& node, std::vector<std::string>& into) {
        if (node.IsScalar()) {
            into.push_back(text(node));
            return;
        }
        if (!node.IsSequence()) fail(node, "expected a text or a list of texts");
        for (const auto& item : node) into.push_back(text(item));
    }

    std::string text(const YAML::Node& node) {
        if (!node.IsScalar() || node.Scalar().empty()) fail(node, "expected a text");
        return node.Scalar();
    }

    [[noreturn]] void fail(const YAML::Node& node, std::string message) {
        Diagnostic diagnostic;
        diagnostic.code = "ADP-RULES-002";
        diagnostic.message = std::move(message);
        diagnostic.where.file = file_.string();
        if (!node.Mark().is_null()) {
            diagnostic.where.line = static_cast<std::uint32_t>(node.Mark().line + 1);
            diagnostic.where.column = static_cast<std::uint32_t>(node.Mark().column + 1);
        }
        throw Error(std::move(diagnostic));
    }

    const std::filesystem::path& file_;
    Rules& rules_;
};

}  // namespace

void Rules::add_file(const std::filesystem::path& file) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-RULES-001";
    diagnostic.where.file = file.string();
    try {
        RulesReader(file, *this).read(YAML::LoadFile(file.string()));
        return;
    } catch (const YAML::BadFile&) {
        diagnostic.message = "cannot read this rules file";
        diagnostic.hint = "name a file with `rules:`, relative to the config, or leave the option out";
    } catch (const YAML::Exception& error) {
        diagnostic.message = "this is not a rules file: " + error.msg;
        if (!error.mark.is_null()) {
            diagnostic.where.line = static_cast<std::uint32_t>(error.mark.line + 1);
            diagnostic.where.column = static_cast<std::uint32_t>(error.mark.column + 1);
        }
    }
    throw Error(std::move(diagnostic));
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) { return matches_glob(pattern, text); });
}

}  // namespace adpipe::member
