#include "layer_file.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace adpipe::layer_json {

namespace {

using Json = nlohmann::json;

/// Reads fields, and notes each that is missing or of another kind with its place in the file.
class FieldReader {
public:
    explicit FieldReader(const std::filesystem::path& path) : path_(path) {}

    const Json* field(const Json& object, const std::string& where, const char* name, bool required) {
        if (!object.is_object()) {
            fault(where.empty() ? "the file" : where, "an object", object);
            return nullptr;
        }
        const auto at = object.find(name);
        if (at != object.end()) return &*at;
        if (required) note(fmt::format("{} is missing", place(where, name)));
        return nullptr;
    }

    std::string text(const Json& object, const std::string& where, const char* name, bool required) {
        const Json* value = field(object, where, name, required);
        if (value == nullptr || (!required && value->is_null())) return {};
        if (value->is_string()) return value->get<std::string>();
        fault(place(where, name), "a text", *value);
        return {};
    }

    /// Calls take(element, its place) for each element.
    template <class Take>
    void each(const Json& object, const std::string& where, const char* name, bool required, Take take) {
        const Json* value = field(object, where, name, required);
        if (value == nullptr || (!required && value->is_null())) return;
        if (!value->is_array()) {
            fault(place(where, name), "a list", *value);
            return;
        }
        for (std::size_t i = 0; i < value->size(); ++i) take((*value)[i], fmt::format("{}[{}]", place(where, name), i));
    }

    /// A text that names something, so not an empty one.
    std::string name(const Json& object, const std::string& where, const char* field_name) {
        const std::size_t faults_before = count_;
        std::string found = text(object, where, field_name, true);
        if (found.empty() && count_ == faults_before) note(place(where, field_name) + " is empty");
        return found;
    }

    std::vector<std::string> texts(const Json& object, const std::string& where, const char* name, bool required) {
        std::vector<std::string> found;
        each(object, where, name, required, [&](const Json& element, const std::string& at) {
            if (element.is_string()) found.push_back(element.get<std::string>());
            else fault(at, "a text", element);
        });
        return found;
    }

    void fault(const std::string& where, const char* wanted, const Json& found) {
        const bool is_short = found.is_number() || found.is_boolean() || found.is_null();
        const std::string shown = is_short ? found.dump() : found.is_string() ? "a text" : found.is_array() ? "a list" : "an object";
        note(fmt::format("{} must be {}; found {}", where, wanted, shown));
    }

    void note(std::string message) {
        if (++count_ > most_faults) return;
        Diagnostic diagnostic;
        diagnostic.code = "ADP-LJ-002";
        diagnostic.message = std::move(message);
        diagnostic.where = {path_.string(), 0, 0};
        faults_.push_back(std::move(diagnostic));
    }

    void throw_if_any() {
        if (count_ == 0) return;
        if (count_ > most_faults) faults_.back().notes.push_back(fmt::format("and {} more", count_ - most_faults));
        faults_.front().hint = "docs/formats.md tells every field of the layer JSON";
        throw Error(std::move(faults_));
    }

private:
    static std::string place(const std::string& where, const char* name) { return where.empty() ? name : where + "." + name; }

    std::filesystem::path path_;
    std::vector<Diagnostic> faults_;
    std::size_t count_ = 0;
};

void read_kernels(FieldReader& reader, const Json& json, const std::string& where, Node& node) {
    reader.each(json, where, "trace_kernels", false, [&](const Json& kernel, const std::string& at) {
        const Json* duration = reader.field(kernel, at, "duration_us", true);
        if (duration == nullptr) return;
        if (!duration->is_number()) return reader.fault(at + ".duration_us", "a number", *duration);
        node.kernel_us += duration->get<double>();
        ++node.kernel_count;
    });
}

Node read_node(FieldReader& reader, const Json& json, const std::string& where) {
    Node node;
    node.id = reader.name(json, where, "id");
    if (!json.is_object()) return node;
    node.op = reader.text(json, where, "op", true);
    node.shape = reader.text(json, where, "shape", false);
    node.dtype = reader.text(json, where, "dtype", false);
    node.group = reader.text(json, where, "group", false);
    node.sub_group = reader.text(json, where, "sub_group", false);
    node.reason = reader.text(json, where, "x_reason", false);
    node.inputs = reader.texts(json, where, "inputs", false);
    reader.each(json, where, "weight_inputs", false, [&](const Json& weight, const std::string& at) {
        node.weights.push_back({reader.name(weight, at, "name"),
                                weight.is_object() ? reader.text(weight, at, "shape", false) : std::string{},
                                weight.is_object() ? reader.text(weight, at, "dtype", false) : std::string{}});
    });
    read_kernels(reader, json, where, node);
    return node;
}

std::int32_t read_layer_number(FieldReader& reader, const Json& json) {
    const Json* layer = reader.field(json, "", "layer", true);
    if (layer == nullptr) return 0;
    const bool fits = layer->is_number_unsigned() && layer->get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max();
    if (fits) return layer->get<std::int32_t>();
    reader.fault("layer", "a whole number from 0", *layer);
    return 0;
}

Json parse(const std::filesystem::path& path, std::string_view text) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-LJ-001";
    diagnostic.where = {path.string(), 0, 0};
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        diagnostic.message = "the file is empty";
        diagnostic.hint = "was the run that wrote it cut off?";
        throw Error(std::move(diagnostic));
    }
    try {
        return Json::parse(text.begin(), text.end());
    } catch (const Json::parse_error& error) {
        const std::string_view before = text.substr(0, std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1));
        diagnostic.where.line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
        diagnostic.where.column = static_cast<std::uint32_t>(before.size() - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
        diagnostic.message = before.size() == text.size() ? "this is no whole JSON: the text ends here"
                                                          : "this is no JSON: what stands here is not expected";
        diagnostic.hint = "was the run that wrote it cut off?";
        throw Error(std::move(diagnostic));
    } catch (const Json::exception&) {  // a number beyond double
        diagnostic.message = "this is no JSON that can be read: a number is too large";
        throw Error(std::move(diagnostic));
    }
}

}  // namespace

LayerFile read_layer_file(const std::filesystem::path& path, std::string_view text) {
    const Json json = parse(path, text);
    FieldReader reader(path);
    LayerFile file;
    if (!json.is_object()) {
        reader.fault("the file", "an object", json);
        reader.throw_if_any();
    }
    file.layer = read_layer_number(reader, json);
    file.source_file = reader.text(json, "", "source_file", false);
    file.module = reader.text(json, "", "x_module", false);
    file.hands_on = reader.texts(json, "", "x_boundary_out", false);
    reader.each(json, "", "nodes", true,
                [&](const Json& node, const std::string& at) { file.nodes.push_back(read_node(reader, node, at)); });
    reader.each(json, "", "edges", false, [&](const Json& edge, const std::string& at) {
        Link link{reader.text(edge, at, "from", true), {}, false};
        if (!edge.is_object()) return;
        link.to = reader.text(edge, at, "to", true);
        link.memory = reader.text(edge, at, "x_kind", false) == "memory";
        file.links.push_back(std::move(link));
    });
    reader.each(json, "", "external_inputs", false, [&](const Json& input, const std::string& at) {
        ExternalInput external;
        external.id = reader.name(input, at, "id");
        if (!input.is_object()) return;
        external.label = reader.text(input, at, "label", false);
        external.shape = reader.text(input, at, "shape", false);
        external.dtype = reader.text(input, at, "x_dtype", false);
        file.inputs.push_back(std::move(external));
    });
    if (json.count("nodes") != 0 && json["nodes"].is_array() && file.nodes.empty())
        reader.note("nodes is empty: there is nothing in this layer");
    reader.throw_if_any();
    return file;
}

}  // namespace adpipe::layer_json
