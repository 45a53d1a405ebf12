#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/option_text.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/trace_findings.hpp"
#include "run/pipeline_builder.hpp"

#include <adpipe/model/window.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::cli {
namespace {

std::string doctor_report(const Window& window, const TraceFindings& findings) {
    std::size_t topic_width = 0;
    for (const Finding& finding : findings.list) topic_width = std::max(topic_width, finding.topic.size());
    std::vector<std::vector<std::string>> rows;
    for (const Finding& finding : findings.list) {
        rows.push_back({finding.good ? "yes" : "NO", finding.topic, broken(finding.text, topic_width + 9)});
    }
    std::string text = fmt::format("{} ({})\n{}\n\n{}", window.trace->file.filename().string(), window.trace->format, window.description,
                                   aligned(rows, "  "));
    text += "\nKernels find their nodes by:\n";
    for (const std::string& evidence : findings.evidence) text += "  " + evidence + "\n";
    if (findings.commands.empty()) return text + "\nNothing is missing that a better recording would give.\n";
    text += "\nTo record what is missing:\n";
    for (const std::string& command : findings.commands) text += "  " + command + "\n";
    return text;
}

std::string doctor_json(const Window& window, const TraceFindings& findings) {
    std::string text = fmt::format("{{\n\"file\": {}, \"format\": {}, \"steps\": {}, \"evidence\": {},\n\"findings\": [",
                                   json_text(window.trace->file.string()), json_text(window.trace->format), json_text(window.description),
                                   json_list(findings.evidence));
    const char* separator = "\n";
    for (const Finding& finding : findings.list) {
        text += fmt::format("{}{{\"topic\": {}, \"good\": {}, \"text\": {}}}", separator, json_text(finding.topic), finding.good,
                            json_text(finding.text));
        separator = ",\n";
    }
    return text + "\n],\n\"commands\": " + json_list(findings.commands) + "\n}\n";
}

}  // namespace

int cmd_doctor(const Arguments& arguments) {
    std::string trace;
    std::string format = "table";
    PipelineOptions run_options;
    CommandLine line{
        "doctor", "TRACE",
        "Says what a trace holds and lacks for putting kernels on graph nodes, how they will be found, and the exact command that records\n"
        "what is missing.",
        "adpipe doctor samples/deepseek_v3/decode.sqlite"};
    line.argument("TRACE", trace_doc, &trace);
    line.option("format", "FORMAT", "table or json (default: table)", &format);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("doctor", "format", format, {"table", "json"})) return *wrong;

    PipelineBuilder pipeline{"doctor"};
    add_detailed_trace(pipeline, trace, "trace");
    pipeline.add("window.replay").with("all_ranks", true).with("may_be_empty", true);
    pipeline.keep<Window>();
    RunResult result;
    if (const int status = run_pipeline(pipeline.config(), run_options, result); status != exit_ok) return finish(status);
    const auto window = result.artifact<Window>();
    const TraceFindings findings = examine(*window);
    Output::standard().write(format == "json" ? doctor_json(*window, findings) : doctor_report(*window, findings));
    return finish(exit_ok);
}

}  // namespace adpipe::cli
