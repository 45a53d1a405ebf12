#pragma once

#include "launch_rules.hpp"
#include "pair_alignment.hpp"
#include "passes.hpp"
#include "scopes.hpp"

#include <adpipe/model/window.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace adpipe::align {

/// Kernels of two recordings, numbered alike: equal names have equal numbers.
class SharedNames {
public:
    explicit SharedNames(const LaunchRules& rules) : rules_(rules) {}
    PairItem item(const Trace& trace, std::uint32_t kernel);
    /// Of a call that put a kernel into a graph that is being captured; `name` may be empty.
    PairItem item(const std::string& name, KernelKind kind);

private:
    const PairItem& named(const std::string& name, KernelKind kind);
    std::uint32_t shape_number(const LaunchShape& shape);

    const LaunchRules& rules_;
    std::map<std::pair<std::string, KernelKind>, PairItem> by_name_;
    std::map<std::pair<const Trace*, StringId>, PairItem> by_id_;
    std::vector<LaunchShape> shapes_;
};

/// Another recording of the same model in which ranges or annotations say what launched a kernel: the capture of the graphs, or passes launched kernel
/// by kernel. Its passes are laid beside those of the recording in question, and what is known of a kernel holds for the one that stands where it stood.
class Companion {
public:
    struct Said {
        Scope scope;  ///< what the companion's ranges say
        float probability = 0;
        bool captured = false;  ///< it was said of the capture, not of a launch
    };
    /// What the companion says of a pass, per kernel.
    using Answer = std::vector<std::optional<Said>>;

    Companion(std::shared_ptr<const Window> window, const OpTable& ops, const LaunchRules& rules);

    /// `kernels`: in the order of their launches, with the trace that they are of. `ends`: where the pass is cut off.
    Answer look_up(const Trace& trace, const std::vector<std::uint32_t>& kernels, PairEnds ends);
    const std::string& name() const noexcept { return name_; }
    /// How many passes of it could be used at all: their order is known, and where most of their kernels belong.
    std::size_t usable_passes() const noexcept { return passes_.size(); }
    /// How many passes of the recording in question were answered, of how many it was asked for.
    std::size_t answered() const noexcept { return answered_; }
    std::size_t asked() const noexcept { return asked_; }

private:
    struct KnownPass {
        std::vector<PairItem> items;
        std::vector<std::uint32_t> scopes;
        std::map<std::uint32_t, std::size_t> names;  ///< how often each occurs
        bool captured = false;
        bool nameless = false;  ///< calls of which the recording does not say which kernel they launch
    };

    void add_passes();
    void add_captures();
    void add(KnownPass pass);
    bool says_something(std::uint32_t scope) const;
    std::vector<const KnownPass*> best_fitting(const std::vector<PairItem>& items) const;
    Answer by_alignment(const std::vector<PairItem>& items, const KnownPass& pass, PairEnds ends, std::size_t& answered) const;
    Answer by_position(const std::vector<PairItem>& items, const KnownPass& pass) const;
    std::optional<Said> judge(const std::vector<PairMatch>& matches, const KnownPass& pass) const;

    std::shared_ptr<const Window> window_;
    const Trace& trace_;
    RangeIndex ranges_;
    ScopeTable scopes_;
    SharedNames names_;
    std::vector<KnownPass> passes_;
    std::string name_;
    std::size_t asked_ = 0, answered_ = 0;
};

}  // namespace adpipe::align
