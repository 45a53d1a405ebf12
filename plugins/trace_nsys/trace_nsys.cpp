#include "export.hpp"
#include "nsys_reader.hpp"

#include <adpipe/model/trace.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace {

using namespace adpipe;

class NsysTrace final : public Stage {
public:
    struct Options {
        std::filesystem::path file;
        std::string nsys = "nsys";
        std::int64_t timeout = 600;
    };

    static constexpr const char* name = "trace.nsys";
    static constexpr const char* summary = "read an SQLite export of Nsight Systems";
    static constexpr const char* doc =
        "Reads kernels, memory copies and sets, API calls, NVTX ranges and the creation of graph nodes from what\n"
        "`nsys export --type sqlite` writes (schema 2.9 to 3.28; only the columns that are there). The file is opened\n"
        "read-only and nothing is written beside it. For kernels inside CUDA graphs, record with\n"
        "`nsys profile --cuda-graph-trace=node`, with the capture inside the recording. A recording itself (.nsys-rep)\n"
        "is exported first, to a temporary directory, if Nsight Systems is installed.";
    static constexpr PortDecl outputs[] = {port<Trace>("trace", "the recording as columns")};
    static constexpr auto options() {
        return std::array{
            option<&Options::file>("file", "The .sqlite file, or the .nsys-rep.", {.required = true}),
            option<&Options::nsys>("nsys", "The program that exports a .nsys-rep."),
            option<&Options::timeout>("timeout", "Seconds that the export may take.", {.minimum = 1, .maximum = 86400}),
        };
    }

    explicit NsysTrace(Options given) : options_(std::move(given)) {}

    void run(Context& context) override {
        const auto trace = read(context);
        if (!trace) return;  // stopped
        context.summary(trace->file.filename().string() + ", " + trace->format + ": " + std::to_string(trace->kernels.size()) +
                        " kernels in " + std::to_string(trace->processes.size()) +
                        (trace->processes.size() == 1 ? " process" : " processes") + (trace->simulated ? ", simulated" : ""));
        context.out<Trace>("trace", trace);
    }

private:
    std::shared_ptr<const Trace> read(Context& context) const {
        const auto warn = [&](Diagnostic diagnostic) { context.report(std::move(diagnostic)); };
        if (!nsys::is_recording(options_.file)) return nsys::read_trace(options_.file, options_.file, warn);
        const nsys::Export exported(options_.file, options_.nsys, std::chrono::seconds(options_.timeout),
                                    [&] { return context.stop_requested(); });
        if (exported.database().empty()) return nullptr;
        return nsys::read_trace(exported.database(), options_.file, warn);
    }

    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("trace_nsys", "0.1.0", "trace.nsys", adpipe::stage<NsysTrace>())
