#include "launch_model.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace adpipe::align {

namespace {

// Shares of an item's probability: kernels of its own class, of the class's family, any kernel. They keep an op that launches
// something the rules do not know from tearing the alignment apart.
constexpr double own_share = 0.90;
constexpr double family_share = 0.08;
constexpr double any_share = 0.02;

constexpr double transfer_as_kernel = 1e-4;

constexpr double optional_present = 0.5;
constexpr double optional_present_unlikely = 0.02;  // the rule says so, or no kernel of the class is in the trace at all
constexpr double first_alternative = 0.8;
constexpr double repeat_again = 0.5;

const std::set<std::string>& common_words() {
    static const std::set<std::string> words{"default", "tensor", "kernel",  "op",   "auto",  "deploy", "trtllm",  "torch",
                                             "triton",  "fused",  "aten",    "with", "cache", "cached", "prepare", "impl",
                                             "void",    "fwd",    "forward", "cuda", "at",    "native"};
    return words;
}

}  // namespace

std::vector<std::string> words_of(std::string_view identifier) {
    std::vector<std::string> words;
    std::string word;
    const auto flush = [&] {
        if (word.size() > 1) words.push_back(word);
        word.clear();
    };
    char before = ' ';
    for (std::size_t i = 0; i < identifier.size(); ++i) {
        const auto c = static_cast<unsigned char>(identifier[i]);
        const bool next_is_lower = i + 1 < identifier.size() && std::islower(static_cast<unsigned char>(identifier[i + 1])) != 0;
        if (std::isalnum(c) == 0) {
            flush();
        } else {
            const auto b = static_cast<unsigned char>(before);
            const bool new_hump = std::isupper(c) != 0 && (std::islower(b) != 0 || (std::isupper(b) != 0 && next_is_lower));
            if (new_hump) flush();
            word += static_cast<char>(std::tolower(c));
        }
        before = static_cast<char>(c);
    }
    flush();
    return words;
}

LaunchModel::LaunchModel(const LaunchRules& rules, std::vector<KernelName> names) : rules_(rules), names_(std::move(names)) {
    log_name_count_ = std::log(static_cast<double>(std::max<std::size_t>(names_.size(), 1)));
    in_family_.assign(rules.families.size(), NameSet(names_.size(), false));
    for (const KernelClass& kernel_class : rules.classes) {
        NameSet members(names_.size(), false);
        const auto family = static_cast<std::size_t>(std::find(rules.families.begin(), rules.families.end(), kernel_class.family) -
                                                     rules.families.begin());
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (!kernel_class.matches(names_[i].lower)) continue;
            members[i] = true;
            in_family_[family][i] = true;
        }
        in_class_.push_back(std::move(members));
    }
    const auto memory = std::find(rules.families.begin(), rules.families.end(), "memory");
    is_transfer_ = memory == rules.families.end() ? NameSet(names_.size(), false)
                                                  : in_family_[static_cast<std::size_t>(memory - rules.families.begin())];
    for (const KernelName& name : names_) {
        // Only the identifier: template arguments and parameters share words with everything.
        const std::string_view head = std::string_view(name.lower).substr(0, name.lower.find_first_of("<("));
        words_of_name_.push_back(words_of(head));
        const std::set<std::string> distinct(words_of_name_.back().begin(), words_of_name_.back().end());
        for (const std::string& word : distinct) ++names_with_word_[word];
    }
}

std::uint32_t LaunchModel::profile(std::string_view op, CastCondition cast) {
    const auto [found, is_new] = profile_ids_.emplace(std::pair{std::string(op), cast}, static_cast<std::uint32_t>(profiles_.size()));
    if (is_new) {
        const OpRule* rule = rules_.find(op, cast);
        static const OpRule fallback{{}, CastCondition::none, {{LaunchItem{LaunchItem::What::any, 0, false, false, true}}}, false, 0.5};
        profiles_.push_back(compile(rule != nullptr ? *rule : fallback, op));
    }
    return found->second;
}

bool LaunchModel::may_launch(std::uint32_t profile, std::uint32_t name) const {
    const std::vector<LaunchProfile::State>& states = profiles_[profile].states;
    return std::any_of(states.begin(), states.end(), [&](const LaunchProfile::State& state) { return meant_[state.emission][name]; });
}

LaunchProfile LaunchModel::compile(const OpRule& rule, std::string_view op) {
    LaunchProfile profile;
    profile.nothing = std::log(rule.nothing);
    profile.something = std::log1p(-rule.nothing);
    const std::vector<LaunchSequence> alternatives = rule.class_of_op ? classes_of_aten_op(op) : rule.alternatives;
    // The rules name the likeliest alternative first.
    double rest = 1.0;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        const bool last = i + 1 == alternatives.size();
        const double weight = rule.class_of_op ? 1.0 / static_cast<double>(alternatives.size()) : rest * (last ? 1.0 : first_alternative);
        add_alternative(profile, alternatives[i], weight, op);
        rest *= 1.0 - first_alternative;
    }
    return profile;
}

std::vector<LaunchSequence> LaunchModel::classes_of_aten_op(std::string_view op) const {
    std::string_view name = op.substr(std::min(op.find('.') + 1, op.size()));
    name = name.substr(0, name.find('.'));
    std::vector<LaunchSequence> found;
    for (std::size_t i = 0; i < rules_.classes.size(); ++i) {
        const auto& ops = rules_.classes[i].aten_ops;
        if (std::find(ops.begin(), ops.end(), name) == ops.end()) continue;
        found.push_back({LaunchItem{LaunchItem::What::kernel_class, static_cast<std::uint32_t>(i)}});
    }
    if (!found.empty()) return found;
    const auto pointwise = std::find(rules_.families.begin(), rules_.families.end(), "pointwise");
    LaunchItem item;
    if (pointwise != rules_.families.end()) {
        item.what = LaunchItem::What::family;
        item.index = static_cast<std::uint32_t>(pointwise - rules_.families.begin());
    }
    return {{item}, {LaunchItem{LaunchItem::What::words}}};
}

void LaunchModel::add_alternative(LaunchProfile& profile, const LaunchSequence& sequence, double weight, std::string_view op) {
    const std::size_t first = profile.states.size();
    const std::size_t count = sequence.size();
    std::vector<double> present(count, 1.0);
    for (std::size_t i = 0; i < count; ++i) {
        if (!sequence[i].optional) continue;
        present[i] = is_absent(sequence[i], op) || sequence[i].unlikely ? optional_present_unlikely : optional_present;
    }
    // reach[i][j]: probability that item j is the next one present after item i - 1 was done (i = 0: at the start).
    const auto reach = [&](std::size_t from, std::size_t to) {
        double probability = 1.0;
        for (std::size_t i = from; i < to; ++i) probability *= 1.0 - present[i];
        return to < count ? probability * present[to] : probability;
    };
    for (std::size_t i = 0; i < count; ++i) {
        LaunchProfile::State state;
        state.emission = emission_row(sequence[i], op);
        state.start = weight * reach(0, i);
        const double leave = sequence[i].repeats ? 1.0 - repeat_again : 1.0;
        state.stop = leave * reach(i + 1, count);
        if (sequence[i].repeats) state.next.emplace_back(first + i, repeat_again);
        for (std::size_t j = i + 1; j < count; ++j) {
            const double probability = leave * reach(i + 1, j);
            if (probability > 0) state.next.emplace_back(first + j, probability);
        }
        profile.states.push_back(std::move(state));
    }
}

bool LaunchModel::is_absent(const LaunchItem& item, std::string_view op) {
    const auto none = [](const NameSet& set) { return std::find(set.begin(), set.end(), true) == set.end(); };
    switch (item.what) {
        case LaunchItem::What::kernel_class: return none(in_class_[item.index]);
        case LaunchItem::What::family: return none(in_family_[item.index]);
        case LaunchItem::What::words: return none(names_sharing_words(op));
        case LaunchItem::What::any: return false;
    }
    return false;
}

std::uint32_t LaunchModel::emission_row(const LaunchItem& item, std::string_view op) {
    std::string key = std::to_string(static_cast<int>(item.what)) + ":";
    key += item.what == LaunchItem::What::words ? std::string(op) : std::to_string(item.index);
    if (const auto found = row_ids_.find(key); found != row_ids_.end()) return found->second;
    std::uint32_t row = 0;
    switch (item.what) {
        case LaunchItem::What::kernel_class: {
            const auto family = std::find(rules_.families.begin(), rules_.families.end(), rules_.classes[item.index].family);
            row = add_row(&in_class_[item.index], &in_family_[static_cast<std::size_t>(family - rules_.families.begin())]);
            break;
        }
        case LaunchItem::What::family: row = add_row(&in_family_[item.index], nullptr); break;
        case LaunchItem::What::words: {
            const NameSet sharing = names_sharing_words(op);
            row = add_row(&sharing, nullptr);
            break;
        }
        case LaunchItem::What::any: row = add_row(nullptr, nullptr); break;
    }
    row_ids_.emplace(std::move(key), row);
    return row;
}

std::uint32_t LaunchModel::add_row(const NameSet* own, const NameSet* family) {
    const auto size = [](const NameSet* set) { return set ? static_cast<double>(std::count(set->begin(), set->end(), true)) : 0.0; };
    const double own_count = size(own), family_count = size(family), all_count = std::max(1.0, static_cast<double>(names_.size()));
    double own_part = own_count > 0 ? own_share : 0;
    double family_part = family_count > 0 ? family_share : 0;
    double any_part = any_share;
    const double total = own_part + family_part + any_part;
    std::vector<double> row(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
        // A copy or memset is none, even where a kernel does it (ROCm): only an item that means it takes it easily.
        const bool is_kernel = names_[i].kind == KernelKind::kernel && !is_transfer_[i];
        double probability = (is_kernel ? any_part : any_part * transfer_as_kernel) / all_count;
        if (own_part > 0 && (*own)[i]) probability += own_part / own_count;
        if (family_part > 0 && (*family)[i]) probability += family_part / family_count;
        row[i] = probability / total * all_count;
    }
    emissions_.push_back(std::move(row));
    meant_.push_back(own ? *own : NameSet(names_.size(), true));
    return static_cast<std::uint32_t>(emissions_.size() - 1);
}

LaunchModel::NameSet LaunchModel::names_sharing_words(std::string_view op) const {
    const std::vector<std::string> words = words_of(op);
    NameSet sharing(names_.size(), false);
    double best = 0;
    std::vector<double> score(names_.size(), 0);
    for (std::size_t i = 0; i < names_.size(); ++i) {
        for (const std::string& word : std::set<std::string>(words.begin(), words.end())) {
            if (common_words().count(word) != 0) continue;
            const auto& of_name = words_of_name_[i];
            if (std::find(of_name.begin(), of_name.end(), word) == of_name.end()) continue;
            score[i] += std::log(1.0 + static_cast<double>(names_.size()) / names_with_word_.at(word));
        }
        best = std::max(best, score[i]);
    }
    for (std::size_t i = 0; i < names_.size(); ++i) sharing[i] = score[i] > 0 && score[i] > 0.6 * best;
    return sharing;
}

}  // namespace adpipe::align
