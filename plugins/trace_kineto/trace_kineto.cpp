// trace.kineto: PyTorch profiler (Kineto) traces, plain or gzip.

#include "kineto_reader.hpp"

#include <adpipe/model/trace.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace adpipe;

class KinetoTrace final : public Stage {
public:
    struct Options {
        std::filesystem::path file;
        std::string python = "modules";
        bool details = false;
    };
    static constexpr const char* name = "trace.kineto";
    static constexpr const char* summary = "Read a PyTorch profiler trace (JSON, plain or gzip)";
    static constexpr const char* doc =
        "Reads what torch.profiler exports as Chrome trace: kernels, copies and memsets with their graph ids and annotations, runtime\n"
        "and driver calls, and the ranges of operators, record_function and modules. Old (2021) and new forms, bare lists of events,\n"
        "gzip of several members. Damaged or cut off files give what can be read of them, and say what is missing.";
    static constexpr PortDecl outputs[] = {port<Trace>("trace", "the recording as columns")};
    static constexpr auto options() {
        return std::array{
            option<&Options::file>("file", "The trace, .json or .json.gz.", {.required = true}),
            option<&Options::python>("python", "Which Python frames to keep as ranges: module calls (nn.Module), all or none.",
                                     {.choices = "modules|all|none"}),
            option<&Options::details>("details",
                                      "Also read what operators were called with, where the trace has it: shapes, types, call stacks."),
        };
    }

    explicit KinetoTrace(Options given) : given_(std::move(given)) {}

    void run(Context& context) override {
        kineto::ReadOptions read;
        read.python = given_.python == "all"    ? kineto::PythonEvents::all
                      : given_.python == "none" ? kineto::PythonEvents::none
                                                : kineto::PythonEvents::modules;
        read.details = given_.details;
        read.stop = [&context] { return context.stop_requested(); };
        auto trace = std::make_shared<Trace>(kineto::read_trace(given_.file, read));
        for (const Diagnostic& limit : trace->limits) context.report(limit);
        context.summary(trace->file.filename().string() + ": " + std::to_string(trace->kernels.size()) + " GPU events, " +
                        std::to_string(trace->launches.size()) + " runtime calls, " + std::to_string(trace->annotations.size()) +
                        " ranges");
        context.out<Trace>("trace", std::move(trace));
    }

private:
    Options given_;
};

}  // namespace

ADPIPE_PLUGIN("trace_kineto", "0.1.0", "trace.kineto", adpipe::stage<KinetoTrace>())
