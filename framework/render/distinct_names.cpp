#include <adpipe/render/distinct_names.hpp>

#include <adpipe/render/kernel_name.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace adpipe::render {

namespace {

constexpr std::size_t most_words = 3;
constexpr std::size_t longest_parameter = 14;
constexpr std::size_t longest_word = 24;
constexpr std::size_t long_word = 7;  ///< of longer ones only the part that differs is shown

/// Kernels of one short name, with what was added to it so far.
class SameName {
public:
    SameName(const std::vector<KernelName>& names, const std::vector<std::size_t>& members)
        : names_{names}, members_{members}, added_(members.size()) {}

    void tell_apart() {
        use_wrapped();
        use_parameters();
        for (std::size_t i = 0; i < most_words && !all_differ(); ++i) use_word();
        use_numbers();
    }

    std::string label(std::size_t m) const {
        std::string text = wrapped_.empty() ? names_[members_[m]].short_name : wrapped_[m];
        if (added_[m].empty()) return text;
        return text.append(" (").append(added_[m]).append(")");
    }

private:
    using Values = std::vector<std::string>;

    std::size_t different(const Values* more) const {
        std::set<std::string> labels;
        for (std::size_t m = 0; m < members_.size(); ++m) labels.insert(label(m) + (more != nullptr ? "\n" + (*more)[m] : ""));
        return labels.size();
    }
    bool all_differ() const { return different(nullptr) == members_.size(); }

    /// To those that are not told apart yet.
    void add(const Values& values) {
        std::map<std::string, std::size_t> same;
        Values labels;
        for (std::size_t m = 0; m < members_.size(); ++m) ++same[labels.emplace_back(label(m))];
        for (std::size_t m = 0; m < members_.size(); ++m) {
            if (!values[m].empty() && same[labels[m]] > 1) added_[m].append(added_[m].empty() ? "" : ", ").append(values[m]);
        }
    }

    void use_wrapped() {
        Values wrapped;
        for (const std::size_t i : members_) {
            wrapped.push_back(short_kernel_name(names_[i].demangled));
            if (names_[i].function.find(wrapped.back()) != std::string::npos) return;  // its own name, no wrapper
        }
        if (std::set<std::string>(wrapped.begin(), wrapped.end()).size() > 1) wrapped_ = std::move(wrapped);
    }

    /// The parameter that tells most of them apart, and so on.
    void use_parameters() {
        std::vector<std::string> parameters;
        for (const std::size_t i : members_) {
            for (const KernelParameter& parameter : names_[i].parameters) {
                if (std::find(parameters.begin(), parameters.end(), parameter.name) == parameters.end())
                    parameters.push_back(parameter.name);
            }
        }
        while (!all_differ()) {
            Values best;
            std::size_t most = different(nullptr);
            for (const std::string& parameter : parameters) {
                Values values = values_of(parameter);
                const std::size_t count = different(&values);
                if (count <= most) continue;
                most = count;
                best = std::move(values);
            }
            if (best.empty()) return;
            add(best);
        }
    }

    Values values_of(const std::string& parameter) const {
        Values values;
        for (const std::size_t i : members_) {
            const std::string value{names_[i].parameter(parameter)};
            std::string both = parameter;
            if (value != "yes") both.append(" ").append(value);
            // Where there is no room for both, the value tells more, unless it is one of two.
            const bool is_switch = value == "yes" || value == "true" || value == "false";
            if (value.empty() || (both.size() > longest_parameter && !is_switch)) both = value;
            values.push_back(std::move(both));
        }
        return values;
    }

    static std::vector<std::string> words_of(const std::string& text) {
        std::vector<std::string> words;
        bool open = false;
        for (const char c : text) {
            const bool in_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
            if (in_word && !open) words.emplace_back();
            if (in_word) words.back() += c;
            open = in_word;
        }
        return words;
    }

    /// Generated names are one long word of parts between '_': the part in which they differ. "MT32x32_NTA0_NTB0",
    /// "MT32x32_NTA4_NTB0" → 1.
    static std::optional<std::size_t> differing_part(const std::set<std::string>& words) {
        std::vector<std::vector<std::string>> parts;
        for (const std::string& word : words) {
            parts.emplace_back(1);
            for (const char c : word) {
                if (c == '_') parts.back().emplace_back();
                else parts.back().back() += c;
            }
        }
        for (std::size_t i = 0;; ++i) {
            std::set<std::string> here;
            for (const auto& of_word : parts) {
                if (i >= of_word.size()) return {};
                here.insert(of_word[i]);
            }
            if (here.size() > 1) return here.count("") > 0 ? std::nullopt : std::optional{i};
        }
    }

    static std::string part_at(const std::string& word, std::size_t part) {
        std::size_t begin = 0;
        for (; part > 0; --part) begin = word.find('_', begin) + 1;
        return word.substr(begin, word.find('_', begin) - begin);
    }

    /// How much of long words is the same at their beginning, and at their end: what tells them apart is the rest.
    static std::pair<std::size_t, std::size_t> in_common(const std::set<std::string>& words) {
        std::size_t shortest = words.begin()->size();
        for (const std::string& word : words) shortest = std::min(shortest, word.size());
        const auto all_have = [&](std::size_t i, bool from_end) {
            const auto at = [&](const std::string& word) { return from_end ? word[word.size() - 1 - i] : word[i]; };
            return i < shortest &&
                   std::all_of(words.begin(), words.end(), [&](const std::string& word) { return at(word) == at(*words.begin()); });
        };
        std::size_t begin = 0;
        while (all_have(begin, false)) ++begin;
        const std::string& one = *words.begin();
        while (begin > 0 && begin < one.size() && !begins_part(one[begin])) --begin;
        if (begin < long_word || begin >= shortest) begin = 0;
        std::size_t end = 0;
        while (begin + end < shortest && all_have(end, true)) ++end;
        while (end > 0 && !begins_part(one[one.size() - end])) --end;
        if (end < long_word || begin + end >= shortest) end = 0;
        return {begin, end};
    }

    static bool begins_part(char c) { return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0; }

    static bool is_number(const std::string& word) {
        return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    }

    /// A number alone says nothing: with the word before it, if that is one. "FusedAdd 1"
    static std::string with_name(const std::vector<std::string>& words, std::size_t at) {
        if (at == 0) return words[at];
        if (is_number(words[at - 1])) return fmt::format("{}, {}", words[at - 1], words[at]);
        return fmt::format("{} {}", words[at - 1].substr(0, longest_word - std::min(longest_word, words[at].size() + 1)), words[at]);
    }

    static std::string shown(const std::vector<std::string>& words, std::size_t at, const std::set<std::string>& here) {
        if (at >= words.size()) return {};
        const bool all_long = std::all_of(here.begin(), here.end(), [](const std::string& word) { return word.size() > long_word; });
        if (all_long && here.begin()->size() > longest_word) {
            if (const auto part = differing_part(here)) return part_at(words[at], *part).substr(0, longest_word);
        }
        if (is_number(words[at])) return with_name(words, at);
        const auto [begin, end] = in_common(here);
        return words[at].substr(begin, words[at].size() - begin - end).substr(0, longest_word);
    }

    /// The first word in which those that still have the same label differ.
    void use_word() {
        std::map<std::string, std::vector<std::size_t>> same;
        for (std::size_t m = 0; m < members_.size(); ++m) same[label(m)].push_back(m);
        Values values(members_.size());
        for (const auto& [text, list] : same) {
            if (list.size() < 2) continue;
            std::vector<std::vector<std::string>> words;
            for (const std::size_t m : list) words.push_back(words_of(names_[members_[m]].demangled));
            const auto word = [&](std::size_t of, std::size_t at) { return at < words[of].size() ? words[of][at] : std::string{}; };
            const std::size_t longest = std::max_element(words.begin(), words.end(), [](const auto& a, const auto& b) {
                                            return a.size() < b.size();
                                        })->size();
            for (std::size_t at = 0; at < longest; ++at) {
                std::set<std::string> here;
                for (std::size_t w = 0; w < words.size(); ++w) here.insert(word(w, at));
                // A word that was added before tells no more.
                if (here.size() < 2 || text.find(word(0, at)) != std::string::npos) continue;
                for (std::size_t w = 0; w < list.size(); ++w) values[list[w]] = shown(words[w], at, here);
                break;
            }
        }
        add(values);
    }

    void use_numbers() {
        std::map<std::string, std::size_t> seen;
        Values values(members_.size());
        for (std::size_t m = 0; m < members_.size(); ++m) {
            const std::size_t number = ++seen[label(m)];
            if (number > 1) values[m] = "another, " + std::to_string(number);
        }
        add(values);
    }

    const std::vector<KernelName>& names_;
    const std::vector<std::size_t>& members_;
    Values added_;
    Values wrapped_;  ///< what the kernels wrap; empty where that does not tell them apart
};

}  // namespace

std::vector<std::string> distinct_short_names(const std::vector<KernelName>& names) {
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i].short_name].push_back(i);
    std::vector<std::string> result;
    for (const KernelName& name : names) result.push_back(name.short_name);
    for (const auto& [text, members] : by_name) {
        if (members.size() < 2) continue;
        SameName same{names, members};
        same.tell_apart();
        for (std::size_t m = 0; m < members.size(); ++m) result[members[m]] = same.label(m);
    }
    return result;
}

}  // namespace adpipe::render
