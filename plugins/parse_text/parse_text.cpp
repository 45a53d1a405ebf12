#include "graph_text.hpp"

#include <adpipe/files.hpp>
#include <adpipe/model/dump.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/plugin.hpp>

#include <array>

namespace {

using namespace adpipe;

struct ParseOptions {
    std::string module = "auto";
};

/// What all parsers of graph texts share.
class GraphTextStage : public Stage {
public:
    using Options = ParseOptions;
    static constexpr std::array inputs{port<Dump>("dump", "The graph text.")};
    static constexpr std::array outputs{port<GraphModel>("graph", "The model graph.")};
    static constexpr std::array options{option<&ParseOptions::module>(
        "module", "Which GraphModule of the text: a name, all, or auto (the whole model if it is there, else the largest).")};

    using Parser = parse::Parsed (*)(const parse::Source&, const std::string& module);
    GraphTextStage(ParseOptions given, Parser parser) : options_(std::move(given)), parser_(parser) {}

    void run(Context& context) override {
        const auto dump = context.in_shared<Dump>("dump");
        const auto file = MappedFile::open(dump->file);
        parse::Parsed parsed = parser_({file->path(), file, file->text()}, options_.module);
        for (Diagnostic& warning : parsed.warnings) context.report(std::move(warning));
        context.summary(dump->file.filename().string() + ", " + parsed.summary);
        context.out<GraphModel>("graph", std::move(parsed.graph));
    }

private:
    ParseOptions options_;
    Parser parser_;
};

class ParseAutodeploy final : public GraphTextStage {
public:
    static constexpr const char* name = "parse.autodeploy";
    static constexpr const char* summary = "Reads a graph dump of TensorRT-LLM AutoDeploy.";
    static constexpr const char* doc =
        "Reads the text that AutoDeploy writes into AD_DUMP_GRAPHS_DIR after each transform. Weights have no line in it: a name that no "
        "line defines is a weight. Every line is either read or reported with its place.";
    explicit ParseAutodeploy(ParseOptions given) : GraphTextStage(std::move(given), &parse::parse_autodeploy) {}
};

class ParseFxReadable final : public GraphTextStage {
public:
    static constexpr const char* name = "parse.fx_readable";
    static constexpr const char* summary = "Reads a graph that GraphModule.print_readable() wrote.";
    static constexpr const char* doc =
        "Reads the Python text of torch.fx graphs, as print_readable(), torch.compile's debug output and TORCH_LOGS=graph_code write it, "
        "with or "
        "without strides, devices, source comments and module stacks. What is fetched from self is a weight; a file may hold several "
        "classes.";
    explicit ParseFxReadable(ParseOptions given) : GraphTextStage(std::move(given), &parse::parse_fx_readable) {}
};

class ParseTorchExport final : public GraphTextStage {
public:
    static constexpr const char* name = "parse.torch_export";
    static constexpr const char* summary = "Reads a graph that str(ExportedProgram) wrote.";
    static constexpr const char* doc =
        "Reads what torch.export programs print. Weights are arguments of forward in this text; the graph signature below it says which, "
        "and "
        "where in the model each lives.";
    explicit ParseTorchExport(ParseOptions given) : GraphTextStage(std::move(given), &parse::parse_torch_export) {}
};

class ParseAuto final : public GraphTextStage {
public:
    static constexpr const char* name = "parse.auto";
    static constexpr const char* summary = "Reads a graph text of any form that a parser here knows.";
    static constexpr const char* doc = "Looks at the file, not at its name, and reads it as the parser for that form does.";
    explicit ParseAuto(ParseOptions given) : GraphTextStage(std::move(given), &parse::parse_auto) {}
};

}  // namespace

ADPIPE_PLUGIN("parse_text", "0.1.0", "parse.autodeploy parse.fx_readable parse.torch_export parse.auto", adpipe::stage<ParseAutodeploy>(),
              adpipe::stage<ParseFxReadable>(), adpipe::stage<ParseTorchExport>(), adpipe::stage<ParseAuto>())
