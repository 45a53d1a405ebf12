#include "run/pipeline_builder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace adpipe {

namespace fs = std::filesystem;

PipelineBuilder::PipelineBuilder(std::string name) { config_.name = std::move(name); }

StageConfig& PipelineBuilder::Step::stage() { return builder_.config_.stages[index_]; }

PipelineBuilder::Step& PipelineBuilder::Step::with(const std::string& option, const std::string& value) {
    Setting setting;
    setting.name.text = option;
    setting.values.push_back({value, false, {}});
    std::error_code error;
    setting.base = fs::current_path(error);
    stage().settings.push_back(std::move(setting));
    return *this;
}

PipelineBuilder::Step& PipelineBuilder::Step::with(const std::string& option, const std::vector<std::string>& values) {
    with(option, std::string{});
    Setting& setting = stage().settings.back();
    setting.shape = Setting::Shape::list;
    setting.values.clear();
    for (const std::string& value : values) setting.values.push_back({value, false, {}});
    return *this;
}

PipelineBuilder::Step& PipelineBuilder::Step::id(std::string id) {
    stage().id.text = std::move(id);
    return *this;
}

PipelineBuilder::Step& PipelineBuilder::Step::from(const std::string& port, const std::string& producer) {
    std::vector<Wire>& wires = stage().from;
    const auto known = std::find_if(wires.begin(), wires.end(), [&](const Wire& wire) { return wire.port.text == port; });
    Wire& wire = known != wires.end() ? *known : wires.emplace_back(Wire{{port, false, {}}, {}});
    wire.producers.push_back({producer, false, {}});
    return *this;
}

PipelineBuilder::Step PipelineBuilder::add(std::string stage) {
    StageConfig config;
    config.stage.text = std::move(stage);
    config_.stages.push_back(std::move(config));
    return Step{*this, config_.stages.size() - 1};
}

PipelineBuilder& PipelineBuilder::layers(LayerSelection layers) {
    config_.layers = std::move(layers);
    return *this;
}

PipelineBuilder& PipelineBuilder::output(const fs::path& directory) {
    std::error_code error;
    config_.output = fs::absolute(directory, error).lexically_normal();
    return *this;
}

}  // namespace adpipe
