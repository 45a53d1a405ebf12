#pragma once

// Runs one stage of a built plugin with inputs made in code, without the host.

#include <adpipe/abi.h>
#include <adpipe/diagnostic.hpp>
#include <adpipe/stage.hpp>

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::testing {

/// A Context that keeps what the stage writes and says.
class RecordingContext : public Context {
public:
    template <class T>
    void give(const std::string& port, std::shared_ptr<const T> value) {
        inputs_[port].push_back(make_artifact<T>(std::move(value)));
    }

    void report(Diagnostic diagnostic) override { reports.push_back(std::move(diagnostic)); }
    void summary(std::string line) override { summaries.push_back(std::move(line)); }
    void print(std::string_view text) override { printed += text; }
    std::filesystem::path write_file(const std::filesystem::path& name, std::string_view content) override {
        files[name.string()] = std::string{content};
        return directory / name;
    }
    const std::filesystem::path& output_directory() const override { return directory; }
    std::filesystem::path data_file(const std::filesystem::path& name) const override { return name; }
    const LayerSelection& layers() const override { return selection; }
    const std::string& pipeline() const override { return pipeline_name; }
    const Terminal& terminal() const override { return screen; }
    bool stop_requested() const noexcept override { return stop; }

    std::filesystem::path directory = "out";
    LayerSelection selection;
    std::string pipeline_name = "test";
    Terminal screen;
    bool stop = false;

    std::map<std::string, std::string> files;
    std::vector<Diagnostic> reports;
    std::vector<std::string> summaries;
    std::string printed;
    std::map<std::string, Artifact> outputs;

protected:
    std::shared_ptr<const void> input(std::string_view port, std::string_view type, bool required, std::size_t index) const override {
        const auto found = inputs_.find(std::string{port});
        const bool given = found != inputs_.end() && index < found->second.size();
        if (given && found->second[index].type == type) return found->second[index].data;
        if (required) throw std::runtime_error("the test gave no " + std::string{type} + " at port " + std::string{port});
        return nullptr;
    }
    void output(std::string_view port, Artifact artifact) override { outputs[std::string{port}] = std::move(artifact); }

private:
    std::map<std::string, std::vector<Artifact>> inputs_;
};

/// The stage `name` of the plugin file, made with `given` options (those of its declaration).
inline std::unique_ptr<Stage> make_stage(const std::filesystem::path& plugin, std::string_view name,
                                         const std::vector<std::pair<std::string, OptionValue>>& given = {}) {
    void* handle = ::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) throw std::runtime_error(::dlerror());
    const auto entry = reinterpret_cast<const PluginDecl* (*)()>(::dlsym(handle, "adpipe_plugin"));
    if (entry == nullptr) throw std::runtime_error(plugin.string() + " is no plugin");
    for (const StageDecl& stage : entry()->stages) {
        if (name != stage.name) continue;
        std::vector<GivenOption> options;
        for (const auto& [option_name, value] : given) {
            bool known = false;
            for (const OptionDecl& option : stage.options) {
                if (option_name != option.name) continue;
                options.push_back({&option, value});
                known = true;
            }
            if (!known) throw std::runtime_error(std::string{name} + " has no option " + option_name);
        }
        return std::unique_ptr<Stage>{stage.create(options)};
    }
    throw std::runtime_error(plugin.string() + " has no stage " + std::string{name});
}

}  // namespace adpipe::testing
