#pragma once

#include "launch_rules.hpp"

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::align {

/// A kernel's name as the rules see it. Kernels of one name form one identity; launch shapes tell variants of it apart.
struct KernelName {
    std::string lower;
    KernelKind kind = KernelKind::kernel;
};

/// What an op may launch, as a small automaton over kernels: one state per item of its rule.
struct LaunchProfile {
    struct State {
        std::uint32_t emission = 0;                          ///< row of the emission table
        double start = 0;                                    ///< probability that the op's first kernel is of this item
        double stop = 0;                                     ///< … that no kernel follows
        std::vector<std::pair<std::uint32_t, double>> next;  ///< … that a kernel of that state follows
    };
    std::vector<State> states;
    double nothing = 0;    ///< log probability of launching no kernel
    double something = 0;  ///< log of the rest
};

/// Binds the rules to the kernels of one trace: probabilities of names per item, and one profile per kind of op.
class LaunchModel {
public:
    LaunchModel(const LaunchRules& rules, std::vector<KernelName> names);

    /// The profile of an op; equal questions get equal numbers.
    std::uint32_t profile(std::string_view op, CastCondition cast);
    const LaunchProfile& operator[](std::uint32_t profile) const { return profiles_[profile]; }

    /// How much likelier a name is than if names were drawn at random.
    double emission(std::uint32_t row, std::uint32_t name) const { return emissions_[row][name]; }
    /// Whether the kernel is of a kind that the rules name for ops of that profile, or these may launch anything.
    bool may_launch(std::uint32_t profile, std::uint32_t name) const;
    double log_name_count() const noexcept { return log_name_count_; }

private:
    using NameSet = std::vector<bool>;
    std::uint32_t emission_row(const LaunchItem& item, std::string_view op);
    std::uint32_t add_row(const NameSet* own, const NameSet* family);
    NameSet names_sharing_words(std::string_view op) const;
    bool is_absent(const LaunchItem& item, std::string_view op);
    LaunchProfile compile(const OpRule& rule, std::string_view op);
    void add_alternative(LaunchProfile& profile, const LaunchSequence& sequence, double weight, std::string_view op);
    std::vector<LaunchSequence> classes_of_aten_op(std::string_view op) const;

    const LaunchRules& rules_;
    std::vector<KernelName> names_;
    std::vector<NameSet> in_class_;
    std::vector<NameSet> in_family_;
    NameSet is_transfer_;  ///< copies and fills of memory, by their names
    std::vector<std::vector<double>> emissions_;
    std::vector<NameSet> meant_;  ///< per row of emissions_: the names that the item is about
    std::map<std::string, std::uint32_t> row_ids_;
    std::vector<LaunchProfile> profiles_;
    std::map<std::pair<std::string, CastCondition>, std::uint32_t> profile_ids_;
    std::vector<std::vector<std::string>> words_of_name_;
    std::map<std::string, int> names_with_word_;
    double log_name_count_ = 0;
};

/// Lower-case words of an identifier: split at underscores, digits' edges and capitals ("RMSNormKernel" → rms, norm, kernel).
std::vector<std::string> words_of(std::string_view identifier);

}  // namespace adpipe::align
