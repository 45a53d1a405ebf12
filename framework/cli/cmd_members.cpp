#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/members_report.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/suggest.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace adpipe::cli {
namespace {

constexpr std::array<const char*, 7> member_columns = {"module", "stack", "node", "layer", "group", "sub_group", "reason"};
using Row = std::array<std::string, member_columns.size()>;

Row row_of(const GraphModel& graph, const Layers& layers, VertexId v) {
    const Vertex& vertex = graph.vertex(v);
    const Membership& member = layers.of[v];
    return {tsv_text(graph.modules()[vertex.module].name),
            tsv_text(layers.text(member.stack)),
            tsv_text(vertex.name),
            layer_text(member.layer),
            std::string{group_text(member.group)},
            tsv_text(layers.text(member.sub_group)),
            tsv_text(layers.text(member.reason))};
}

void append_field(std::string& line, std::string_view text) {
    line.append(1, '\t').append(text);
    blank_controls(std::span{line}.last(text.size()));
}

/// What stands behind the name in a row. Neighbours in a dump, such as the weights of a layer's experts, mostly have it in common, and a dump
/// has tens of thousands of vertices.
class RowEnd {
public:
    explicit RowEnd(const Layers& layers) : layers_(layers) {}

    const std::string& of(VertexId v) {
        const Membership& member = layers_.of[v];
        if (last_ != nullptr && same(*last_, member)) return text_;
        last_ = &member;
        if (text_.empty() || member.layer != layer_) layer_text_ = layer_text(layer_ = member.layer);
        text_.assign(1, '\t').append(layer_text_).append(1, '\t').append(group_text(member.group));
        append_field(text_, layers_.text(member.sub_group));
        append_field(text_, layers_.text(member.reason));
        text_ += '\n';
        return text_;
    }

private:
    static bool same(const Membership& a, const Membership& b) {
        return a.layer == b.layer && a.group == b.group && a.sub_group == b.sub_group && a.reason == b.reason;
    }

    const Layers& layers_;
    const Membership* last_ = nullptr;
    LayerId layer_ = layer_unknown;
    std::string layer_text_;
    std::string text_;
};

/// Rows on their way out. A string would look after its length at each of their parts.
class RowBuffer {
public:
    ~RowBuffer() { flush(); }
    /// Makes room for so many bytes.
    void begin(std::size_t size) {
        if (size > bytes_.size() - used_) flush();
        if (size > bytes_.size()) bytes_.resize(size);
    }
    void add(std::string_view text) {
        if (!text.empty()) std::memcpy(bytes_.data() + used_, text.data(), text.size());
        used_ += text.size();
    }
    /// With spaces in place of tabs and other controls.
    void add_field(std::string_view text) {
        add(text);
        blank_controls({bytes_.data() + used_ - text.size(), text.size()});
    }
    void flush() {
        Output::standard().write({bytes_.data(), used_});
        used_ = 0;
    }

private:
    std::vector<char> bytes_ = std::vector<char>(Output::piece);
    std::size_t used_ = 0;
};

void write_tsv(const GraphModel& graph, const Layers& layers) {
    std::string heading;
    for (const char* name : member_columns) heading += (heading.empty() ? "" : "\t") + std::string{name};
    Output::standard().write(heading + '\n');
    std::vector<std::string> modules;
    for (const GraphModule& module : graph.modules()) modules.push_back(tsv_text(module.name) + '\t');
    RowEnd row_end(layers);
    RowBuffer rows;
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Vertex& vertex = graph.vertex(v);
        const std::string& module = modules[vertex.module];
        const std::string_view stack = layers.text(layers.of[v].stack);
        const std::string& end = row_end.of(v);
        rows.begin(module.size() + stack.size() + 1 + vertex.name.size() + end.size());
        rows.add(module);
        rows.add_field(stack);
        rows.add("\t");
        rows.add_field(vertex.name);
        rows.add(end);
    }
}

void write_json(const GraphModel& graph, const Layers& layers) {
    Output& output = Output::standard();
    output.write("[");
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Row row = row_of(graph, layers, v);
        std::string object = v == 0 ? "\n{" : ",\n{";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_number = std::string_view{member_columns[i]} == "layer" && layers.of[v].layer >= 0;
            object += (i == 0 ? "" : ", ") + json_text(member_columns[i]) + ": " + (is_number ? row[i] : json_text(row[i]));
        }
        output.write(object + "}");
    }
    output.write("\n]\n");
}

void write_table(const GraphModel& graph, const Layers& layers) {
    std::vector<std::vector<std::string>> rows{{member_columns.begin(), member_columns.end()}};
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Row row = row_of(graph, layers, v);
        rows.emplace_back(row.begin(), row.end());
    }
    Output::standard().write(aligned(rows));
}

/// What carries each layer to the next, with the proof.
void write_boundaries(const GraphModel& graph, const Layers& layers, const std::string& format) {
    const std::vector<std::string> columns{"module", "stack", "layer", "values", "proof"};
    std::vector<std::vector<std::string>> rows = boundary_rows(graph, layers);
    Output& output = Output::standard();
    if (format == "table") {
        rows.insert(rows.begin(), columns);
        output.write(aligned(rows));
        return;
    }
    if (format == "json") output.write("[");
    else rows.insert(rows.begin(), columns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::string line = format == "json" ? (row == 0 ? "\n{" : ",\n{") : "";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (format == "json") line += (i == 0 ? "" : ", ") + json_text(columns[i]) + ": " + json_text(rows[row][i]);
            else line += (i == 0 ? "" : "\t") + rows[row][i];
        }
        output.write(line + (format == "json" ? "}" : "\n"));
    }
    if (format == "json") output.write("\n]\n");
}

std::vector<std::string> near_names(const GraphModel& graph, const std::string& name) {
    std::vector<std::string> names;
    for (VertexId v = 0; v < graph.size(); ++v) names.emplace_back(graph.vertex(v).name);
    const std::string near = nearest_name(name, names);
    return near.empty() ? std::vector<std::string>{} : std::vector{"did you mean '%" + near + "'?"};
}

/// Everything about the vertices of that name. False, with a diagnostic, if there is none.
bool write_why(const GraphModel& graph, const Layers& layers, std::string name) {
    if (!name.empty() && name.front() == '%') name.erase(0, 1);
    bool found = false;
    for (std::uint16_t module = 0; module < graph.modules().size(); ++module) {
        const auto v = graph.find(name, module);
        if (!v) continue;
        if (found) Output::standard().write("\n");
        Output::standard().write(explain_vertex(graph, layers, *v));
        found = true;
    }
    if (!found) {
        Diagnostic missing;
        missing.code = "ADP-MEMBER-007";
        missing.message = "no node %" + name + " in " + graph.source().filename().string();
        missing.notes = near_names(graph, name);
        missing.hint = "`adpipe members` lists the nodes; --module all looks at every module of the text";
        show({missing});
    }
    return found;
}

}  // namespace

int cmd_members(const Arguments& arguments) {
    std::string dump;
    std::optional<std::string> module;
    std::string format = "table";
    std::string strategy = usual_strategy;
    std::vector<std::string> with;
    bool boundaries = false;
    std::optional<std::string> why;
    PipelineOptions options;
    CommandLine line{"members", "DUMP", "Lists every vertex of a graph dump with the layer, group and sub-group it belongs to, and why.",
                     "adpipe members samples/deepseek_v3/dumps --format tsv"};
    line.argument("DUMP", "a dump file, or a directory of dumps (the last one is taken)", &dump);
    line.option("module", "NAME", "the graph module to read, or all; else the parser chooses", &module);
    line.option("format", "FORMAT", "table, tsv or json (default: table)", &format);
    line.option("strategy", "STAGE", "the member stage that decides (default: member.dataflow)", &strategy);
    line.option("with", "OPTION=VALUE", "an option of that stage; may be given several times", &with);
    line.flag("boundaries", "list what carries each layer to the next, and prove it", &boundaries);
    line.option("why", "NODE", "explain one node: where it is, why, what it reads, what reads it", &why);
    options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("members", "format", format, {"table", "tsv", "json"})) return *wrong;

    if (why && format != "table")
        return usage_error("ADP-USE-007", "--format is table beside --why, which explains in words; found '" + format + "'", "members");

    PipelineBuilder pipeline{"members"};
    add_dump(pipeline, dump, module);
    auto member = add_strategy(pipeline, strategy, options.plugins);
    for (const std::string& option : with) {
        const std::size_t equals = option.find('=');
        if (equals == std::string::npos || equals == 0) {
            return usage_error("ADP-USE-005", "--with wants OPTION=VALUE, not '" + option + "'", "members");
        }
        member.with(option.substr(0, equals), option.substr(equals + 1));
    }
    pipeline.keep<GraphModel>().keep<Layers>();
    RunResult result;
    if (const int status = run_pipeline(pipeline.config(), options, result); status != exit_ok) return finish(status);
    const auto graph = result.artifact<GraphModel>();
    const auto layers = result.artifact<Layers>();
    if (why) return finish(write_why(*graph, *layers, *why) ? exit_ok : exit_failed);
    if (boundaries) {
        write_boundaries(*graph, *layers, format);
    } else if (format == "tsv") {
        write_tsv(*graph, *layers);
    } else if (format == "json") {
        write_json(*graph, *layers);
    } else {
        write_table(*graph, *layers);
    }
    return finish(exit_ok);
}

}  // namespace adpipe::cli
