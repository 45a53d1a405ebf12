// trace.rocpd and trace.rocprof_csv: recordings of AMD's rocprofiler.

#include "rocpd.hpp"
#include "rocprof_csv.hpp"

#include <adpipe/model/trace.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace adpipe;

void publish(Context& context, Trace read) {
    auto trace = std::make_shared<Trace>(std::move(read));
    for (const Diagnostic& limit : trace->limits) context.report(limit);
    context.summary(trace->file.filename().string() + ", " + trace->format + ": " + std::to_string(trace->kernels.size()) +
                    " GPU events, " + std::to_string(trace->launches.size()) + " runtime calls, " +
                    std::to_string(trace->annotations.size()) + " ranges");
    context.out<Trace>("trace", std::move(trace));
}

class RocpdTrace final : public Stage {
public:
    struct Options {
        std::filesystem::path file;
    };
    static constexpr const char* name = "trace.rocpd";
    static constexpr const char* summary = "Read a rocprofiler database (rocpd, schema 3)";
    static constexpr const char* doc =
        "Reads what `rocprofv3 --output-format rocpd` writes: kernels, copies, calls of the HIP runtime and marked ranges (roctx), "
        "through\n"
        "the views of the database. The file is opened read-only; nothing is written into it or beside it. Ids of HIP graphs are there\n"
        "only in databases of 2026 and later.";
    static constexpr PortDecl outputs[] = {port<Trace>("trace", "the recording as columns")};
    static constexpr auto options() { return std::array{option<&Options::file>("file", "The .db file.", {.required = true})}; }

    explicit RocpdTrace(Options given) : given_(std::move(given)) {}
    void run(Context& context) override { publish(context, rocm::read_rocpd(given_.file)); }

private:
    Options given_;
};

class RocprofCsvTrace final : public Stage {
public:
    struct Options {
        std::filesystem::path file;
    };
    static constexpr const char* name = "trace.rocprof_csv";
    static constexpr const char* summary = "Read a kernel trace of rocprofv3 (CSV)";
    static constexpr const char* doc =
        "Reads <name>_kernel_trace.csv and, where they lie beside it, <name>_memory_copy_trace.csv, <name>_hip_api_trace.csv and\n"
        "<name>_marker_api_trace.csv of the same recording.";
    static constexpr PortDecl outputs[] = {port<Trace>("trace", "the recording as columns")};
    static constexpr auto options() {
        return std::array{option<&Options::file>("file", "The file that ends in _kernel_trace.csv.", {.required = true})};
    }

    explicit RocprofCsvTrace(Options given) : given_(std::move(given)) {}
    void run(Context& context) override { publish(context, rocm::read_rocprof_csv(given_.file)); }

private:
    Options given_;
};

}  // namespace

ADPIPE_PLUGIN("trace_rocm", "0.1.0", "trace.rocpd trace.rocprof_csv", adpipe::stage<RocpdTrace>(), adpipe::stage<RocprofCsvTrace>())
