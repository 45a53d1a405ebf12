#pragma once

// Runs one stage for a test, as the host would: options are decoded and checked, outputs must be published, whatever it throws comes
// out as adpipe::Error. Needs no test framework.
//
//     adpipe::testing::StageHarness harness{"member.prefix"};
//     harness.option("layers", 61).input("graph", graph_from_text("x = placeholder\n…"));
//     const auto layers = harness.run<adpipe::Layers>();

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace adpipe::testing {

class ADPIPE_EXPORT StageHarness {
public:
    /// A stage of an installed plugin, or of one in ADPIPE_PLUGIN_PATH. Throws Error if there is none.
    explicit StageHarness(std::string_view stage);
    /// A stage of that plugin file. Throws Error if it is refused.
    StageHarness(const std::filesystem::path& plugin, std::string_view stage);
    /// A stage that is compiled into the test: `StageHarness harness{adpipe::stage<MyStage>()};`
    explicit StageHarness(const StageDecl& stage);
    /// Removes the output directory.
    ~StageHarness();
    StageHarness(const StageHarness&) = delete;
    StageHarness& operator=(const StageHarness&) = delete;

    /// Gives an option the text that a config would.
    StageHarness& option(const std::string& name, const std::string& value);
    StageHarness& option(const std::string& name, const char* value) { return option(name, std::string{value}); }
    StageHarness& option(const std::string& name, const std::vector<std::string>& values);
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
    StageHarness& option(const std::string& name, Number value) {
        if constexpr (std::is_same_v<Number, bool>) return option(name, std::string{value ? "true" : "false"});
        else return option(name, std::to_string(value));
    }
    /// Feeds an input port; several calls feed a port that takes many. `producer` is what messages call the stage that made it.
    template <class T>
    StageHarness& input(const std::string& port, std::shared_ptr<const T> value, const std::string& producer = "test") {
        Artifact artifact = make_artifact<T>(std::move(value));
        artifact.producer = producer;
        return feed(port, std::move(artifact));
    }
    template <class T, class = std::enable_if_t<!std::is_const_v<T>>>
    StageHarness& input(const std::string& port, std::shared_ptr<T> value, const std::string& producer = "test") {
        return input<T>(port, std::shared_ptr<const T>{std::move(value)}, producer);
    }
    StageHarness& layers(LayerSelection layers);

    /// Runs the stage; may be called again. Throws Error with what the host would have shown.
    void run();
    /// Runs it and returns its first output of that type.
    template <class T>
    std::shared_ptr<const T> run() {
        run();
        return output<T>();
    }

    /// What the last run() published; nullptr if there is none of that type.
    template <class T>
    std::shared_ptr<const T> output() const {
        for (const Artifact& artifact : outputs()) {
            if (artifact.type == ArtifactTraits<T>::id) return std::static_pointer_cast<const T>(artifact.data);
        }
        return nullptr;
    }
    const std::vector<Artifact>& outputs() const noexcept;
    const std::vector<Diagnostic>& diagnostics() const noexcept;  ///< warnings and notes
    const std::vector<std::string>& summary() const noexcept;
    const std::string& printed() const noexcept;
    /// Files that it wrote, in order; they live as long as the harness.
    const std::vector<std::filesystem::path>& files() const noexcept;
    /// The content of a file that it wrote. Throws Error if there is none of that name.
    std::string file(const std::filesystem::path& name) const;

private:
    StageHarness& feed(const std::string& port, Artifact artifact);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace adpipe::testing
