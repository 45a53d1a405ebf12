// analyze.operators: which operator of the program launched each kernel.

#include "../shared/companion.hpp"

#include <adpipe/model/operators.hpp>
#include <adpipe/plugin.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace {

using namespace adpipe;

/// Fills the operators of one trace in.
class OperatorFinder {
public:
    OperatorFinder(const Window& window, const launches::Companion* companion) : trace_{*window.trace}, companion_{companion} {
        const auto& sources = trace_.annotations.source;
        if (std::find(sources.begin(), sources.end(), Annotations::Source::cpu_op) != sources.end()) sites_.emplace(window, nullptr);
        found_.trace = window.trace;
        found_.of_kernel.resize(trace_.kernels.size());
    }

    void add(const Step& step) {
        kernels_ += step.kernels.size();
        const std::vector<std::uint32_t>* named = companion_ != nullptr ? &in_companion(step) : nullptr;
        for (std::size_t i = 0; i < step.kernels.size(); ++i) {
            const std::uint32_t kernel = step.kernels[i];
            std::uint32_t& known = found_.of_kernel[kernel];
            if (!step.replay && sites_) known = number_of(trace_.string(sites_->op_of(kernel)));
            if (known == 0 && named != nullptr && (*named)[i] != 0) {
                known = (*named)[i];
                ++from_companion_;
            }
            known_ += known != 0 ? 1 : 0;
        }
    }

    std::string summary() const {
        if (known_ == 0) return "no operator is known of any kernel";
        std::string text = fmt::format("{} operators of {} of {} kernels", found_.names.size() - 1, known_, kernels_);
        if (from_companion_ > 0) text += fmt::format(", of {} by {}", from_companion_, companion_->name());
        return text;
    }
    Operators take() { return std::move(found_); }

private:
    std::uint32_t number_of(const std::string& name) {
        if (name.empty()) return 0;
        const auto [slot, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(found_.names.size()));
        if (is_new) found_.names.push_back(name);
        return slot->second;
    }

    /// Replays of one graph run the same kernels: they are laid beside the companion once.
    const std::vector<std::uint32_t>& in_companion(const Step& step) {
        std::vector<StringId> names;
        for (const std::uint32_t k : step.kernels) names.push_back(trace_.kernels.name[k]);
        const auto [slot, is_new] = of_names_.try_emplace(std::move(names));
        if (!is_new) return slot->second;
        for (const auto& site : companion_->sites_of(trace_, step.kernels)) slot->second.push_back(site ? number_of(site->op) : 0);
        return slot->second;
    }

    const Trace& trace_;
    const launches::Companion* companion_;
    std::optional<launches::LaunchSites> sites_;  ///< none: the trace holds no operators
    Operators found_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::map<std::vector<StringId>, std::vector<std::uint32_t>> of_names_;
    std::size_t kernels_ = 0;
    std::size_t known_ = 0;
    std::size_t from_companion_ = 0;
};

class AnalyzeOperators final : public Stage {
public:
    struct Options {};
    static constexpr std::array<OptionDecl, 0> options{};
    static constexpr const char* name = "analyze.operators";
    static constexpr const char* summary = "Finds the operator of the program that launched each kernel";
    static constexpr const char* doc =
        "For kernels of chosen steps: the innermost operator (cpu_op of PyTorch) around the call that launched the "
        "kernel. Kernels of a graph that is "
        "replayed\n"
        "have lost theirs; a companion knows them: another recording of the same model that saw the capture of the "
        "graph, or passes launched kernel by "
        "kernel.\n"
        "A step is laid beside its passes as a whole and in order; a place that is not certain stays unknown.";
    static constexpr PortDecl inputs[] = {
        port<Window>("window", "the steps to look at"),
        port<Window>("companion", "steps of another recording of the same model; by `from`", PortUse::optional),
    };
    static constexpr PortDecl outputs[] = {port<Operators>("operators", "per kernel the operator that launched it")};

    explicit AnalyzeOperators(Options) {}

    void run(Context& context) override {
        const auto& window = context.in<Window>("window");
        std::optional<launches::Companion> companion;
        auto other = context.maybe<Window>("companion");
        if (other && other->trace != window.trace) companion.emplace(std::move(other), KernelNames::built_in());
        OperatorFinder finder{window, companion ? &*companion : nullptr};
        for (const Step& step : window.steps) {
            if (context.stop_requested()) return;
            if (step.chosen) finder.add(step);
        }
        context.summary(finder.summary());
        context.out<Operators>("operators", std::make_shared<Operators>(finder.take()));
    }
};

}  // namespace

ADPIPE_PLUGIN("analyze_operators", "0.1.0", "analyze.operators", adpipe::stage<AnalyzeOperators>())
