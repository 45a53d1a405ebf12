// trace_dump FORMAT FILE [--columns]: reads a trace and prints what the reader made of it, for the tests.
// Without --columns a summary as JSON; with it every column of every table, one row a line.

#include "kineto_reader.hpp"
#include "rocpd.hpp"
#include "rocprof_csv.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/trace.hpp>

#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <time.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using namespace adpipe;
using Json = nlohmann::ordered_json;

namespace {

template <class T>
Json cell(const std::vector<T>& column, std::size_t row) {
    if (column.empty()) return nullptr;
    if constexpr (std::is_same_v<T, std::uint64_t>) {
        if (column[row] == no_id) return nullptr;
    } else if constexpr (std::is_signed_v<T>) {
        if (column[row] == -1) return nullptr;
    }
    return column[row];
}

Json text(const Trace& trace, const std::vector<StringId>& column, std::size_t row) {
    if (column.empty()) return nullptr;
    return trace.string(column[row]);
}

Json known(std::int64_t number) { return number == -1 ? Json() : Json(number); }

Json triple(const std::array<std::int32_t, 3>& numbers) { return {known(numbers[0]), known(numbers[1]), known(numbers[2])}; }

void print_kernels(const Trace& trace) {
    const Kernels& k = trace.kernels;
    for (std::size_t i = 0; i < k.size(); ++i) {
        const LaunchShape& shape = trace.shapes[k.shape.empty() ? 0 : k.shape[i]];
        const Json row{{"table", "kernel"},
                       {"kind", static_cast<int>(k.kind[i])},
                       {"row", k.row[i]},
                       {"start", k.start[i]},
                       {"end", k.end[i]},
                       {"name", text(trace, k.name, i)},
                       {"process", cell(k.process, i)},
                       {"device", cell(k.device, i)},
                       {"context", cell(k.context, i)},
                       {"stream", cell(k.stream, i)},
                       {"correlation", cell(k.correlation, i)},
                       {"graph", cell(k.graph, i)},
                       {"graph_node", cell(k.graph_node, i)},
                       {"external", cell(k.external, i)},
                       {"grid", triple(shape.grid)},
                       {"block", triple(shape.block)},
                       {"registers", known(shape.registers)},
                       {"shared_memory", known(shape.shared_memory)},
                       {"bytes", cell(k.bytes, i)},
                       {"annotation", text(trace, k.annotation, i)},
                       {"annotation_module", text(trace, k.annotation_module, i)},
                       {"annotation_layer", cell(k.annotation_layer, i)}};
        std::cout << row.dump() << '\n';
    }
}

void print_host(const Trace& trace) {
    const Launches& l = trace.launches;
    for (std::size_t i = 0; i < l.size(); ++i) {
        const Json row{{"table", "launch"},
                       {"start", l.start[i]},
                       {"end", l.end[i]},
                       {"name", text(trace, l.name, i)},
                       {"process", l.process[i]},
                       {"thread", l.thread[i]},
                       {"correlation", cell(l.correlation, i)}};
        std::cout << row.dump() << '\n';
    }
    const Annotations& a = trace.annotations;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const Json row{{"table", "annotation"},
                       {"start", a.start[i]},
                       {"end", a.end[i]},
                       {"name", text(trace, a.name, i)},
                       {"process", a.process[i]},
                       {"thread", a.thread[i]},
                       {"source", static_cast<int>(a.source[i])},
                       {"external", cell(a.external, i)},
                       {"device", cell(a.device, i)}};
        std::cout << row.dump() << '\n';
    }
}

void print_summary(const Trace& trace, double seconds) {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    Json processes = Json::array();
    for (const Process& p : trace.processes) processes.push_back({{"pid", p.pid}, {"name", p.name}, {"rank", p.rank}});
    Json devices = Json::array();
    for (const Device& d : trace.devices) devices.push_back({{"id", d.id}, {"name", d.name}, {"multiprocessors", d.multiprocessors}});
    Json limits = Json::array();
    for (const Diagnostic& d : trace.limits) limits.push_back(d.code + " " + d.message);
    const Json summary{{"format", trace.format},
                       {"kernels", trace.kernels.size()},
                       {"launches", trace.launches.size()},
                       {"annotations", trace.annotations.size()},
                       {"strings", trace.strings.size()},
                       {"processes", processes},
                       {"devices", devices},
                       {"messages", trace.profiler_messages},
                       {"epoch", trace.epoch},
                       {"resolution", trace.resolution},
                       {"streams_rewritten", trace.streams_rewritten},
                       {"truncated", trace.truncated},
                       {"simulated", trace.simulated},
                       {"limits", limits}};
    std::cout << summary.dump(1) << '\n';
    const auto cpu = [](clockid_t clock) {
        timespec time{};
        ::clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    std::fprintf(stderr, "%.3f s; processor time %.3f s, of it %.3f s in the first thread; peak %ld MB\n", seconds,
                 cpu(CLOCK_PROCESS_CPUTIME_ID), cpu(CLOCK_THREAD_CPUTIME_ID), usage.ru_maxrss / 1024);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    try {
        const auto begin = std::chrono::steady_clock::now();
        Trace trace;
        const std::string_view format = argv[1];
        if (format == "kineto") trace = kineto::read_trace(argv[2]);
        if (format == "rocpd") trace = rocm::read_rocpd(argv[2]);
        if (format == "rocprof_csv") trace = rocm::read_rocprof_csv(argv[2]);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        if (argc > 3) {
            print_kernels(trace);
            print_host(trace);
        }
        print_summary(trace, taken.count());
    } catch (const Error& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) std::cerr << format_text(diagnostic);
        return 1;
    }
    return 0;
}
