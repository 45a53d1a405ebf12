// The plugin: three ways to say which layer each node belongs to.

#include "layer_summary.hpp"
#include "membership.hpp"
#include "vote.hpp"

#include <adpipe/beside.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace adpipe;
using member::NameUse;

constexpr std::array graph_input{port<GraphModel>("graph", "The model graph.")};
constexpr std::array layers_output{port<Layers>("layers", "Layer, group and reason of every node.")};

/// Reads the common rules and, if given, the user's; decides; publishes.
class DataflowStrategy : public Stage {
protected:
    DataflowStrategy(std::filesystem::path more_rules, NameUse names, const char* strategy)
        : more_rules_(std::move(more_rules)), names_(names), strategy_(strategy) {}

    /// Reading the rules takes as long as parsing a large graph, and needs nothing of it.
    void prepare(const Context& context) override {
        reading_rules_.emplace([common = context.data_file("rules/common.yaml"), more = more_rules_] {
            member::Rules rules;
            rules.add_file(common);
            if (!more.empty()) rules.add_file(more);
            return rules;
        });
    }

    void run(Context& context) override {
        const auto graph = context.in_shared<GraphModel>("graph");
        if (!reading_rules_) prepare(context);
        const member::Rules& rules = reading_rules_->get();
        std::vector<Diagnostic> notes;
        auto layers = std::make_shared<Layers>(member::members_by_dataflow(*graph, rules, names_, notes));
        layers->strategy = strategy_;
        for (Diagnostic& note : notes) context.report(std::move(note));
        context.summary(member::describe(*graph, *layers));
        context.out<Layers>("layers", std::shared_ptr<const Layers>{std::move(layers)});
    }

private:
    std::filesystem::path more_rules_;
    NameUse names_;
    const char* strategy_;
    std::optional<Beside<member::Rules>> reading_rules_;
};

class MemberDataflow final : public DataflowStrategy {
public:
    struct Options {
        std::filesystem::path rules;
        std::string names = "use";
    };
    static constexpr const char* name = "member.dataflow";
    static constexpr const char* summary = "Finds each node's layer from weights, dataflow and the model's repetition.";
    static constexpr const char* doc =
        "A node between weights of layer N is in layer N. Where the weights leave a choice, the module path in a node's name decides if it "
        "has one, and else the model's own repetition: what every layer has at the same place, and what the first and the last layer lack. "
        "Groups (norm, attention, moe, …) come from rules files and from neighbours.";
    static constexpr std::array inputs = graph_input;
    static constexpr std::array outputs = layers_output;
    static constexpr auto options() {
        return std::array{option<&Options::rules>("rules", "A rules file for the model family, read after the common one."),
                          option<&Options::names>("names",
                                                  "Whether module paths in names of nodes count where the dataflow leaves a choice.",
                                                  {.choices = "use|ignore"})};
    }

    explicit MemberDataflow(Options given)
        : DataflowStrategy(std::move(given.rules), given.names == "use" ? NameUse::use : NameUse::ignore, name) {}
};

class MemberModulePath final : public DataflowStrategy {
public:
    struct Options {
        std::filesystem::path rules;
    };
    static constexpr const char* name = "member.module_path";
    static constexpr const char* summary = "Finds each node's layer from the module path in its name.";
    static constexpr const char* doc =
        "A node named model_layers_3_… is in layer 3, whatever the dataflow says. A name keeps the path of what it was when the model was "
        "exported; nodes that later transforms made have none and go where the dataflow puts them.";
    static constexpr std::array inputs = graph_input;
    static constexpr std::array outputs = layers_output;
    static constexpr auto options() {
        return std::array{option<&Options::rules>("rules", "A rules file for the model family, read after the common one.")};
    }

    explicit MemberModulePath(Options given) : DataflowStrategy(std::move(given.rules), NameUse::first, name) {}
};

class MemberVote final : public Stage {
public:
    static constexpr const char* name = "member.vote";
    static constexpr const char* summary = "Compares several membership strategies and reports where they differ.";
    static constexpr const char* doc =
        "Takes the layers of two or more member stages, in order of trust. Each node goes where most of them put it, and where they are "
        "even, where the first does; nodes on which they differ are marked uncertain and listed in a warning.";
    static constexpr std::array inputs{port<GraphModel>("graph", "The model graph."),
                                       port<Layers>("layers", "What each strategy found, most trusted first.", PortUse::many)};
    static constexpr std::array outputs = layers_output;

    void run(Context& context) override {
        const auto graph = context.in_shared<GraphModel>("graph");
        std::vector<Diagnostic> notes;
        auto layers = std::make_shared<Layers>(member::vote(*graph, context.many<Layers>("layers"), notes));
        layers->strategy = name;
        for (Diagnostic& note : notes) context.report(std::move(note));
        context.summary(member::describe(*graph, *layers));
        context.out<Layers>("layers", std::shared_ptr<const Layers>{std::move(layers)});
    }
};

}  // namespace

ADPIPE_PLUGIN("member", "0.1.0", "member.dataflow member.module_path member.vote", adpipe::stage<MemberDataflow>(),
              adpipe::stage<MemberModulePath>(), adpipe::stage<MemberVote>())
