#include "config/pipeline_config.hpp"

#include "config/environment.hpp"
#include "config/layer_selection.hpp"
#include "config/yaml_reader.hpp"

#include <adpipe/files.hpp>
#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <system_error>

namespace adpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_config = 4U << 20U;

const char* kind_text(YamlNode::Kind kind) {
    switch (kind) {
        case YamlNode::Kind::null: return "nothing";
        case YamlNode::Kind::scalar: return "a text";
        case YamlNode::Kind::list: return "a list";
        case YamlNode::Kind::map: return "a map";
    }
    return "";
}

/// Turns the YAML tree of one file into a PipelineConfig.
class ConfigReader {
public:
    ConfigReader(std::shared_ptr<const SourceText> source, fs::path directory, std::vector<Diagnostic>& diagnostics)
        : source_{std::move(source)}, directory_{std::move(directory)}, diagnostics_{diagnostics} {}

    PipelineConfig read(YamlNode root) {
        PipelineConfig config;
        config.name = fs::path{source_->name()}.stem().string();
        config.origin = {source_, {1, 1}};
        if (root.kind != YamlNode::Kind::map) {
            fault(root.mark, "ADP-CFG-008", fmt::format("a config is a map with the key 'stages'; found {}", kind_text(root.kind)));
            return config;
        }
        bool has_stages = false;
        const Keys keys = {
            {"pipeline", [&](const Key&, YamlNode& value) { read_text(value, "pipeline", config.name); }},
            {"layer", [&](const Key&, YamlNode& value) { read_layers(value, config.layers); }},
            {"output", [&](const Key&, YamlNode& value) { config.output = read_path(value, "output"); }},
            {"plugins", [&](const Key&, YamlNode& value) { read_plugins(value, config.plugins); }},
            {"stages",
             [&](const Key& key, YamlNode& value) {
                 has_stages = true;
                 config.origin = origin(key.mark);
                 read_stages(value, config.stages);
             }},
        };
        read_map(root, "a config", keys);
        if (!has_stages) fault(root.mark, "ADP-CFG-009", "the config has no 'stages'");
        if (config.output.empty()) config.output = directory_ / "out" / fs::path{config.name}.filename();
        return config;
    }

private:
    struct Key {
        std::string text;
        Mark mark;
    };
    struct KeyReader {
        const char* name;
        std::function<void(const Key&, YamlNode&)> read;
    };
    using Keys = std::vector<KeyReader>;

    Origin origin(Mark mark) const { return {source_, mark}; }

    void fault(Mark mark, std::string code, std::string message, std::string note = {}) {
        Diagnostic diagnostic = error_at(origin(mark), std::move(code), std::move(message));
        if (!note.empty()) diagnostic.notes = {std::move(note)};
        diagnostics_.push_back(std::move(diagnostic));
    }

    void wrong_kind(const YamlNode& node, std::string_view key, std::string_view expected) {
        fault(node.mark, "ADP-CFG-008", fmt::format("'{}' is {}; found {}", key, expected, kind_text(node.kind)));
    }

    /// Gives each value to the reader of its key; a key without a reader is an error.
    void read_map(YamlNode& map, std::string_view what, const Keys& keys) {
        std::vector<std::string> names;
        for (const KeyReader& key : keys) names.emplace_back(key.name);
        for (YamlNode::Entry& entry : map.entries) {
            const auto key = std::find_if(keys.begin(), keys.end(), [&](const KeyReader& known) { return entry.key == known.name; });
            if (key != keys.end()) {
                key->read({entry.key, entry.mark}, entry.value);
            } else {
                fault(entry.mark, "ADP-CFG-007", fmt::format("unknown key '{}' in {}", entry.key, what),
                      suggestion(entry.key, names, "the keys are"));
            }
        }
    }

    /// Puts environment variables into a scalar.
    bool expand(YamlNode& node) {
        std::string what = expand_environment(node.scalar, [](const char* name) { return std::getenv(name); });
        if (what.empty()) return true;
        fault(node.mark, "ADP-CFG-010", std::move(what));
        return false;
    }

    bool read_text(YamlNode& node, std::string_view key, std::string& text) {
        if (node.kind != YamlNode::Kind::scalar) {
            wrong_kind(node, key, "a text");
            return false;
        }
        if (!expand(node)) return false;
        if (node.scalar.empty()) {
            fault(node.mark, "ADP-CFG-008", fmt::format("'{}' is empty", key));
            return false;
        }
        text = node.scalar;
        return true;
    }

    fs::path read_path(YamlNode& node, std::string_view key) {
        std::string text;
        return read_text(node, key, text) ? (directory_ / text).lexically_normal() : fs::path{};
    }

    void read_layers(YamlNode& node, LayerSelection& layers) {
        if (node.kind == YamlNode::Kind::list) {
            for (YamlNode& item : node.items) read_layer(item, layers);
        } else {
            read_layer(node, layers);
        }
    }

    void read_layer(YamlNode& node, LayerSelection& layers) {
        std::string text;
        if (!read_text(node, "layer", text)) return;
        if (std::string what = add_layers(text, layers); !what.empty()) fault(node.mark, "ADP-CFG-011", std::move(what));
    }

    void read_plugins(YamlNode& node, std::vector<fs::path>& plugins) {
        if (node.kind != YamlNode::Kind::list) return wrong_kind(node, "plugins", "a list of files and directories");
        for (YamlNode& item : node.items) {
            if (fs::path path = read_path(item, "plugins"); !path.empty()) plugins.push_back(std::move(path));
        }
    }

    void read_stages(YamlNode& node, std::vector<StageConfig>& stages) {
        if (node.kind != YamlNode::Kind::list) return wrong_kind(node, "stages", "a list");
        if (node.items.empty()) return fault(node.mark, "ADP-CFG-009", "'stages' is empty");
        for (YamlNode& item : node.items) read_stage(item, stages);
    }

    void read_stage(YamlNode& node, std::vector<StageConfig>& stages) {
        StageConfig stage;
        stage.origin = origin(node.mark);
        if (node.kind != YamlNode::Kind::map) {
            return fault(node.mark, "ADP-CFG-008",
                         fmt::format("each of the stages is a map such as '- stage: parse.auto'; found {}", kind_text(node.kind)));
        }
        const auto text_into = [this](ConfigText& text) {
            return [this, &text](const Key& key, YamlNode& value) {
                read_text(value, key.text, text.text);
                text.origin = origin(value.mark);
            };
        };
        const Keys keys = {
            {"stage", text_into(stage.stage)},
            {"id", text_into(stage.id)},
            {"with", [&](const Key&, YamlNode& value) { read_settings(value, stage.settings); }},
            {"from", [&](const Key&, YamlNode& value) { read_wires(value, stage.from); }},
        };
        read_map(node, "a stage", keys);
        const bool names_stage = std::any_of(node.entries.begin(), node.entries.end(),
                                             [](const YamlNode::Entry& entry) { return entry.key == "stage"; });
        if (!names_stage) fault(node.mark, "ADP-CFG-009", "this entry of 'stages' has no key 'stage'");
        if (!stage.stage.text.empty()) stages.push_back(std::move(stage));
    }

    void read_settings(YamlNode& node, std::vector<Setting>& settings) {
        if (node.kind == YamlNode::Kind::null) return;  // every option is commented out
        if (node.kind != YamlNode::Kind::map) return wrong_kind(node, "with", "a map of options");
        for (YamlNode::Entry& entry : node.entries) {
            Setting setting;
            setting.name = {entry.key, false, origin(entry.mark)};
            setting.origin = origin(entry.value.mark);
            setting.base = directory_;
            if (!read_values(entry.value, setting)) setting.shape = Setting::Shape::faulty;
            settings.push_back(std::move(setting));
        }
    }

    bool read_values(YamlNode& node, Setting& setting) {
        switch (node.kind) {
            case YamlNode::Kind::null: setting.shape = Setting::Shape::missing; return true;
            case YamlNode::Kind::map: setting.shape = Setting::Shape::map; return true;
            case YamlNode::Kind::scalar: return add_value(node, setting);
            case YamlNode::Kind::list: break;
        }
        setting.shape = Setting::Shape::list;
        for (YamlNode& item : node.items) {
            if (item.kind != YamlNode::Kind::scalar) {
                fault(item.mark, "ADP-CFG-008",
                      fmt::format("the elements of '{}' are texts; found {}", setting.name.text, kind_text(item.kind)));
                return false;
            }
            if (!add_value(item, setting)) return false;
        }
        return true;
    }

    bool add_value(YamlNode& node, Setting& setting) {
        if (!expand(node)) return false;
        setting.values.push_back({node.scalar, node.quoted, origin(node.mark)});
        return true;
    }

    void read_wires(YamlNode& node, std::vector<Wire>& wires) {
        if (node.kind != YamlNode::Kind::map) return wrong_kind(node, "from", "a map of input ports to stages");
        for (YamlNode::Entry& entry : node.entries) {
            Wire wire;
            wire.port = {entry.key, false, origin(entry.mark)};
            std::vector<YamlNode> single;
            if (entry.value.kind != YamlNode::Kind::list) single.push_back(std::move(entry.value));
            for (YamlNode& item : single.empty() ? entry.value.items : single) {
                std::string text;
                if (read_text(item, "from", text)) wire.producers.push_back({std::move(text), item.quoted, origin(item.mark)});
            }
            wires.push_back(std::move(wire));
        }
    }

    std::shared_ptr<const SourceText> source_;
    fs::path directory_;
    std::vector<Diagnostic>& diagnostics_;
};

// ---- --set

/// One `--set stage.option=value`.
class SetOverride {
public:
    SetOverride(const std::string& text, std::size_t number, std::vector<Diagnostic>& diagnostics)
        : source_{std::make_shared<SourceText>(fmt::format("<--set #{}>", number), text)}, diagnostics_{diagnostics} {}

    void apply(PipelineConfig& config) {
        const std::string_view text = source_->text();
        const std::size_t equals = text.find('=');
        const std::size_t dot = text.substr(0, equals).rfind('.');
        if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0 || dot + 1 == equals) {
            return fault("ADP-CFG-018", "--set takes stage.option=value", "for example --set render.dot.fold=none");
        }
        StageConfig* const stage = find_stage(config, std::string{text.substr(0, dot)});
        if (stage == nullptr) return;
        Setting setting = make_setting(dot, equals);
        const auto known = std::find_if(stage->settings.begin(), stage->settings.end(),
                                        [&](const Setting& other) { return other.name.text == setting.name.text; });
        if (known != stage->settings.end()) {
            *known = std::move(setting);
        } else {
            stage->settings.push_back(std::move(setting));
        }
    }

private:
    void fault(std::string code, std::string message, std::string note) {
        Diagnostic diagnostic = error_at({source_, {1, 1}}, std::move(code), std::move(message));
        diagnostic.notes = {std::move(note)};
        diagnostics_.push_back(std::move(diagnostic));
    }

    StageConfig* find_stage(PipelineConfig& config, const std::string& name) {
        std::vector<StageConfig*> matches;
        std::vector<std::string> names;
        for (StageConfig& stage : config.stages) {
            names.push_back(stage.name());
            if (stage.name() == name) return &stage;
            if (stage.stage.text == name) matches.push_back(&stage);
        }
        if (matches.size() == 1) return matches.front();
        if (matches.empty()) {
            fault("ADP-CFG-019", fmt::format("the config has no stage '{}'", name), suggestion(name, names, "its stages"));
        } else {
            fault("ADP-CFG-019", fmt::format("the config has several stages '{}'; name the one by its id", name),
                  suggestion("", names, "its stages"));
        }
        return nullptr;
    }

    Setting make_setting(std::size_t dot, std::size_t equals) const {
        const std::string_view text = source_->text();
        Setting setting;
        setting.name = {std::string{text.substr(dot + 1, equals - dot - 1)}, false, {source_, source_->mark_at(dot + 1)}};
        setting.origin = {source_, source_->mark_at(equals + 1)};
        setting.values.push_back({std::string{text.substr(equals + 1)}, false, setting.origin});
        setting.may_be_split = true;
        std::error_code error;
        setting.base = fs::current_path(error);
        return setting;
    }

    std::shared_ptr<const SourceText> source_;
    std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

std::optional<PipelineConfig> parse_config(const std::shared_ptr<const SourceText>& source, const fs::path& directory,
                                           std::vector<Diagnostic>& diagnostics) {
    auto root = read_yaml(source, diagnostics);
    if (!root) return std::nullopt;
    return ConfigReader{source, directory, diagnostics}.read(std::move(*root));
}

std::optional<PipelineConfig> read_config(const fs::path& file, std::vector<Diagnostic>& diagnostics) {
    std::shared_ptr<const MappedFile> mapped;
    try {
        mapped = MappedFile::open(file);
    } catch (const Error& error) {
        diagnostics.insert(diagnostics.end(), error.diagnostics().begin(), error.diagnostics().end());
        return std::nullopt;
    }
    std::string_view text = mapped->text();
    if (text.size() > largest_config) {
        Diagnostic diagnostic;
        diagnostic.code = "ADP-CFG-001";
        diagnostic.message = fmt::format("the file is no config: it has {} bytes, a config has at most {}", text.size(), largest_config);
        diagnostic.where.file = file.string();
        diagnostics.push_back(std::move(diagnostic));
        return std::nullopt;
    }
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.substr(0, byte_order_mark.size()) == byte_order_mark) text.remove_prefix(byte_order_mark.size());
    std::error_code error;
    const fs::path directory = fs::absolute(file, error).parent_path();
    return parse_config(std::make_shared<SourceText>(file.string(), std::string{text}), directory, diagnostics);
}

void apply_overrides(PipelineConfig& config, const ConfigOverrides& overrides, std::vector<Diagnostic>& diagnostics) {
    for (std::size_t i = 0; i < overrides.set.size(); ++i) SetOverride{overrides.set[i], i + 1, diagnostics}.apply(config);
    if (overrides.layer) {
        LayerSelection layers;
        std::string what = add_layers(*overrides.layer, layers);
        if (what.empty()) {
            config.layers = std::move(layers);
        } else {
            diagnostics.push_back(
                error_at({std::make_shared<SourceText>("<--layer>", *overrides.layer), {1, 1}}, "ADP-CFG-011", std::move(what)));
        }
    }
    if (overrides.output && overrides.output->empty()) {
        diagnostics.push_back(error_at({std::make_shared<SourceText>("<--output>", ""), {1, 1}}, "ADP-CFG-008", "'output' is empty"));
    } else if (overrides.output) {
        std::error_code error;
        config.output = fs::absolute(*overrides.output, error).lexically_normal();
    }
}

}  // namespace adpipe
