#include "nsys_reader.hpp"

#include <adpipe/model/trace.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <string>

namespace {

using namespace adpipe;

class NsysTrace final : public Stage {
public:
    struct Options {
        std::filesystem::path file;
    };

    static constexpr const char* name = "trace.nsys";
    static constexpr const char* summary = "read an SQLite export of Nsight Systems";
    static constexpr const char* doc =
        "Reads kernels, memory copies and sets, API calls, NVTX ranges and the creation of graph nodes from what\n"
        "`nsys export --type sqlite` writes (schema 2.9 to 3.28; only the columns that are there). The file is opened\n"
        "read-only and nothing is written beside it. For kernels inside CUDA graphs, record with\n"
        "`nsys profile --cuda-graph-trace=node`, with the capture inside the recording.";
    static constexpr PortDecl outputs[] = {port<Trace>("trace", "the recording as columns")};
    static constexpr auto options() {
        return std::array{
            option<&Options::file>("file", "The .sqlite file.", {.required = true}),
        };
    }

    explicit NsysTrace(Options given) : options_(std::move(given)) {}

    void run(Context& context) override {
        const auto trace = nsys::read_trace(options_.file, [&](Diagnostic diagnostic) { context.report(std::move(diagnostic)); });
        context.summary(trace->file.filename().string() + ", " + trace->format + ": " + std::to_string(trace->kernels.size()) +
                        " kernels in " + std::to_string(trace->processes.size()) +
                        (trace->processes.size() == 1 ? " process" : " processes") + (trace->simulated ? ", simulated" : ""));
        context.out<Trace>("trace", trace);
    }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("trace_nsys", "0.1.0", "trace.nsys", adpipe::stage<NsysTrace>())
