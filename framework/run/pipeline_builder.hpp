#pragma once

#include "config/pipeline_config.hpp"

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace adpipe {

/// Makes a pipeline in code, for what needs no config file. It is planned, checked and run like any other:
///
///     PipelineBuilder pipeline{"members"};
///     pipeline.add("select.file").with("file", file);
///     pipeline.add("parse.auto");
///     pipeline.add("member.dataflow");
///     pipeline.keep<Layers>();
class ADPIPE_EXPORT PipelineBuilder {
public:
    explicit PipelineBuilder(std::string name);

    /// The stage that add() added; valid until the builder goes.
    class ADPIPE_EXPORT Step {
    public:
        /// Sets an option. Paths are relative to the working directory.
        Step& with(const std::string& option, const std::string& value);
        Step& with(const std::string& option, const char* value) { return with(option, std::string{value}); }
        Step& with(const std::string& option, const std::filesystem::path& value) { return with(option, value.string()); }
        Step& with(const std::string& option, const std::vector<std::string>& values);
        template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
        Step& with(const std::string& option, Number value) {
            if constexpr (std::is_same_v<Number, bool>) return with(option, std::string{value ? "true" : "false"});
            else return with(option, std::to_string(value));
        }
        /// Names the stage, for from(); its id is the stage's name otherwise.
        Step& id(std::string id);
        /// Connects an input port by hand; called again for a port, one that takes many, adds to it.
        Step& from(const std::string& port, const std::string& producer);

    private:
        friend class PipelineBuilder;
        Step(PipelineBuilder& builder, std::size_t index) : builder_{builder}, index_{index} {}
        StageConfig& stage();
        PipelineBuilder& builder_;
        std::size_t index_;
    };

    Step add(std::string stage);
    PipelineBuilder& layers(LayerSelection layers);
    PipelineBuilder& output(const std::filesystem::path& directory);

    /// The newest artifact of that type is wanted after the run: RunResult::artifact<T>() gives it.
    template <class T>
    PipelineBuilder& keep() {
        config_.keep.emplace_back(ArtifactTraits<T>::id);
        return *this;
    }

    const PipelineConfig& config() const noexcept { return config_; }
    PipelineConfig& config() noexcept { return config_; }

private:
    PipelineConfig config_;
};

}  // namespace adpipe
