// Whole files read by trace.kineto: forms of the format, damage, and texts that were changed at random.

#include "gzip_writer.hpp"
#include "kineto_reader.hpp"
#include "read_ahead.hpp"
#include "temporary_file.hpp"

#include <adpipe/diagnostic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace adpipe;

namespace {

Trace read(std::string_view content, std::size_t chunk_size = 256 * 1024) {
    const TemporaryFile file(content);
    kineto::ReadOptions options;
    options.chunk_size = chunk_size;
    return kineto::read_trace(file.path(), options);
}

std::string gpu_event(const std::string& category, const std::string& times, const std::string& args = "\"correlation\": 1") {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": "k", "pid": 0, "tid": 7, )" + times +
           R"(, "args": {"device": 0, "stream": 7, )" + args + "}}";
}

std::string call(const std::string& pid, std::uint64_t correlation) {
    return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": )" + pid +
           R"(, "tid": 1, "ts": 1, "dur": 1, "args": {"correlation": )" + std::to_string(correlation) + "}}";
}

std::string list(const std::vector<std::string>& events) {
    std::string text = "[";
    for (const std::string& event : events) text += (text.size() > 1 ? ",\n" : "") + event;
    return text + "]";
}

std::string object(const std::vector<std::string>& events, const std::string& members = "") {
    return "{" + members + "\"traceEvents\": " + list(events) + "}";
}

std::vector<std::string> codes(const Trace& trace) {
    std::vector<std::string> found;
    for (const Diagnostic& limit : trace.limits) found.push_back(limit.code);
    return found;
}

using Codes = std::vector<std::string>;

/// Code of the error that reading ends with; empty if it does not.
std::string error_of(std::string_view content) {
    try {
        read(content);
        return {};
    } catch (const Error& error) {
        return error.diagnostics().front().code;
    }
}

const std::string one = gpu_event("kernel", R"("ts": 10.5, "dur": 2.25)");
const std::string two = gpu_event("kernel", R"("ts": 20, "dur": 1)");
const std::string three = gpu_event("gpu_memcpy", R"("ts": 30, "dur": 1)", "\"bytes\": 64");

/// A small file with an event of every kind.
std::string sample() {
    return object(
        {
            R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 42, "tid": 42, "ts": 1.000, "dur": 5.000, "args": {"External id": 9, "Input Dims": [[1, 2], []]}})",
            R"({"ph": "X", "cat": "user_annotation", "name": "step", "pid": 42, "tid": 42, "ts": 0.500, "dur": 9.000})",
            R"({"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 42, "tid": 42, "ts": 1.250, "dur": 2.000})",
            R"({"ph": "X", "cat": "python_function", "name": "x.py(1): f", "pid": 42, "tid": 42, "ts": 1.250, "dur": 2.000})",
            call("42", 5),
            R"({"ph": "s", "id": 5, "pid": 42, "tid": 42, "ts": 1.0, "cat": "ac2g", "name": "ac2g"})",
            R"~({"ph": "X", "cat": "kernel", "name": "void f<int>(\"x\")", "pid": 0, "tid": 7, "ts": 3.125, "dur": 2.001, "args": {"External id": 9, "device": 0, "context": 1, "stream": 7, "correlation": 5, "registers per thread": 32, "shared memory": 1024, "grid": [4, 2, 1], "block": [128, 1, 1], "graph id": 3, "graph node id": 77}})~",
            R"~({"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 6, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 6, "bytes": 4096, "graph id": 0, "graph node id": 0}})~",
            R"({"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 3.1, "dur": 4})",
            R"({"name": "process_name", "ph": "M", "pid": 42, "tid": 0, "args": {"name": "python3"}})",
        },
        R"("schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "numSms": 132}], "distributedInfo": {"rank": 3}, )"
        R"("baseTimeNanoseconds": 1700000000000000000, "WARNING": ["dropped 3 buffers"], )");
}

void check_columns(const Trace& trace) {
    const Kernels& k = trace.kernels;
    const auto fits = [&](const auto& column) { return column.empty() || column.size() == k.size(); };
    REQUIRE(k.end.size() == k.size());
    REQUIRE(k.kind.size() == k.size());
    REQUIRE(k.row.size() == k.size());
    REQUIRE(k.name.size() == k.size());
    REQUIRE(k.process.size() == k.size());
    REQUIRE((fits(k.device) && fits(k.context) && fits(k.stream) && fits(k.correlation) && fits(k.graph) && fits(k.graph_node)));
    REQUIRE((fits(k.external) && fits(k.shape) && fits(k.bytes) && fits(k.annotation) && fits(k.annotation_module)));
    REQUIRE(fits(k.annotation_layer));
    for (std::size_t i = 0; i < k.size(); ++i) {
        REQUIRE(k.start[i] <= k.end[i]);
        REQUIRE(k.process[i] < trace.processes.size());
        REQUIRE(k.name[i] < trace.strings.size());
        REQUIRE((k.shape.empty() || k.shape[i] < trace.shapes.size()));
        REQUIRE((i == 0 || k.row[i - 1] < k.row[i]));
    }
    const Launches& l = trace.launches;
    REQUIRE((l.end.size() == l.size() && l.name.size() == l.size() && l.process.size() == l.size() && l.thread.size() == l.size()));
    REQUIRE(l.correlation.size() == l.size());
    const Annotations& a = trace.annotations;
    REQUIRE((a.end.size() == a.size() && a.name.size() == a.size() && a.process.size() == a.size() && a.thread.size() == a.size()));
    REQUIRE(a.source.size() == a.size());
    REQUIRE((a.external.empty() || a.external.size() == a.size()));
    REQUIRE((a.device.empty() || a.device.size() == a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        REQUIRE((a.start[i] <= a.end[i] && a.process[i] < std::max<std::size_t>(trace.processes.size(), 1)));
}

}  // namespace

TEST_CASE("every kind of event finds its columns") {
    const Trace trace = read(sample());
    check_columns(trace);
    CHECK(codes(trace) == Codes{});
    CHECK(trace.format == "kineto");
    CHECK(trace.epoch == 1700000000000000000);
    CHECK(trace.profiler_messages == std::vector<std::string>{"warning: dropped 3 buffers"});
    REQUIRE(trace.devices.size() == 1);
    CHECK(trace.devices[0].name == "GPU");
    CHECK(trace.devices[0].multiprocessors == 132);
    REQUIRE(trace.processes.size() == 1);
    CHECK(trace.processes[0].pid == 42);
    CHECK(trace.processes[0].name == "python3");
    CHECK(trace.processes[0].rank == 3);

    const Kernels& k = trace.kernels;
    REQUIRE(k.size() == 2);
    CHECK(trace.string(k.name[0]) == "void f<int>(\"x\")");
    CHECK(k.kind[0] == KernelKind::kernel);
    CHECK(k.start[0] == 3125);
    CHECK(k.end[0] == 5126);
    CHECK(k.external[0] == 9);
    CHECK(k.correlation[0] == 5);
    CHECK(k.stream[0] == 7);
    CHECK(k.device[0] == 0);
    CHECK(k.context[0] == 1);
    CHECK(k.graph[0] == 3);
    CHECK(k.graph_node[0] == 77);
    CHECK(trace.shapes[k.shape[0]] == LaunchShape{{4, 2, 1}, {128, 1, 1}, 32, 1024});
    CHECK(k.bytes[0] == -1);

    CHECK(k.kind[1] == KernelKind::memset);
    CHECK(k.row[1] == 1);
    CHECK(k.external[1] == no_id);
    CHECK(k.graph[1] == no_id);
    CHECK(k.graph_node[1] == no_id);
    CHECK(k.context[1] == -1);
    CHECK(k.shape[1] == 0);
    CHECK(k.bytes[1] == 4096);
    CHECK(k.annotation.empty());

    REQUIRE(trace.launches.size() == 1);
    CHECK(trace.launches.correlation[0] == 5);
    const Annotations& a = trace.annotations;
    REQUIRE(a.size() == 4);
    using Source = Annotations::Source;
    CHECK(a.source == std::vector<Source>{Source::cpu_op, Source::user, Source::python, Source::gpu_user});
    CHECK(a.external == std::vector<std::uint64_t>{9, no_id, no_id, no_id});
    CHECK(a.device == std::vector<std::int32_t>{-1, -1, -1, 0});
    CHECK(a.thread[0] == a.thread[1]);
    CHECK(a.thread[3] == 7);
}

TEST_CASE("which Python frames are kept is an option") {
    const TemporaryFile file(sample());
    const auto ranges = [&](kineto::PythonEvents python) {
        kineto::ReadOptions options;
        options.python = python;
        return kineto::read_trace(file.path(), options).annotations.size();
    };
    CHECK(ranges(kineto::PythonEvents::none) == 3);
    CHECK(ranges(kineto::PythonEvents::modules) == 4);
    CHECK(ranges(kineto::PythonEvents::all) == 5);
}

TEST_CASE("what operators were called with is read if asked for, in chunks of any size") {
    const auto op = [](int external, const std::string& shapes, const std::string& more) {
        return R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 3, "tid": 1, "ts": 1.5, "dur": 2, "args": {"External id": )" +
               std::to_string(external) +
               R"(, "Concrete Inputs": ["", "]"], "Input type": ["c10::BFloat16", "Scalar"], "Input Strides": [[64, 1], []], "Input Dims": )" +
               shapes + more + "}}";
    };
    const std::string user =
        R"({"ph": "X", "cat": "user_annotation", "name": "step", "pid": 3, "tid": 1, "ts": 1, "dur": 9, "args": {"Input Dims": [[1]]}})";
    const std::string text = object(
        {op(1, "[[16, 64], []]", ""), op(2, "[[8, 64], []]", ""), user, op(3, "[]", R"(, "Call stack": "a.py(3): f;b.py(4): g")")});
    const TemporaryFile file(text);
    for (const std::size_t size : {1, 7, 64, 100000}) {
        CAPTURE(size);
        kineto::ReadOptions options;
        options.chunk_size = size;
        const Trace plain = kineto::read_trace(file.path(), options);
        CHECK(plain.annotations.size() == 4);
        CHECK(plain.annotations.input_shapes.empty());
        options.details = true;
        const Trace trace = kineto::read_trace(file.path(), options);
        const Annotations& a = trace.annotations;
        CHECK(a.external == std::vector<std::uint64_t>{1, 2, no_id, 3});
        const auto texts = [&](const std::vector<StringId>& column) {
            std::vector<std::string> out;
            for (const StringId id : column) out.push_back(trace.string(id));
            return out;
        };
        CHECK(texts(a.input_shapes) == std::vector<std::string>{"[[16, 64], []]", "[[8, 64], []]", "", "[]"});
        CHECK(texts(a.input_types)[1] == R"(["c10::BFloat16", "Scalar"])");
        CHECK(texts(a.call_stack) == std::vector<std::string>{"", "", "", "a.py(3): f;b.py(4): g"});
    }
}

TEST_CASE("a device's limits are read, and one of a nonsense value is not known") {
    const Trace trace = read(
        object({}, R"("deviceProperties": [{"id": 0, "name": "GPU", "computeMajor": 9, "computeMinor": 0, "warpSize": 32,)"
                   R"( "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": -3, "sharedMemPerMultiprocessor": 233472}], )"));
    REQUIRE(trace.devices.size() == 1);
    const Device& device = trace.devices[0];
    CHECK(device.compute_major == 9);
    CHECK(device.compute_minor == 0);
    CHECK(device.warp_size == 32);
    CHECK(device.threads_per_multiprocessor == 2048);
    CHECK(device.registers_per_multiprocessor == -1);
    CHECK(device.shared_memory_per_multiprocessor == 233472);
    CHECK(device.blocks_per_multiprocessor == -1);
}

TEST_CASE("the same trace comes out of chunks of any size, plain or packed") {
    const std::string text = sample();
    const Trace whole = read(text);
    for (const std::size_t size : {1, 2, 3, 5, 17, 64, 100, 333, 1000}) {
        for (const std::string& content : {text, gzip(text), gzip(text.substr(0, 700)) + gzip(text.substr(700))}) {
            CAPTURE(size);
            const Trace trace = read(content, size);
            check_columns(trace);
            CHECK(trace.kernels.start == whole.kernels.start);
            CHECK(trace.kernels.graph_node == whole.kernels.graph_node);
            CHECK(trace.annotations.end == whole.annotations.end);
            CHECK(trace.launches.thread == whole.launches.thread);
            CHECK(std::equal(trace.strings.begin(), trace.strings.end(), whole.strings.begin(), whole.strings.end()));
            CHECK(trace.epoch == whole.epoch);
            CHECK(codes(trace) == Codes{});
        }
    }
}

TEST_CASE("a file cut off anywhere gives the events before the cut, and says so") {
    const std::string text = sample();
    const Trace whole = read(text);
    const std::size_t first_event = text.find("{\"ph\"");
    for (std::size_t size = 1; size < text.size(); ++size) {
        CAPTURE(size);
        const std::string cut = text.substr(0, size);
        try {
            const Trace trace = read(cut, size % 2 == 0 ? 50 : 4096);
            check_columns(trace);
            CHECK(trace.truncated);
            const Codes found = codes(trace);
            CHECK(std::find(found.begin(), found.end(), "ADP-KIN-020") != found.end());
            CHECK(trace.kernels.size() <= whole.kernels.size());
            CHECK(std::equal(trace.kernels.start.begin(), trace.kernels.start.end(), whole.kernels.start.begin()));
            CHECK(trace.annotations.size() <= whole.annotations.size());
        } catch (const Error& error) {
            CHECK(error.diagnostics().front().code == "ADP-KIN-005");
            CHECK(size < text.find("}}", first_event) + 2);  // only while no event is whole
        }
    }
}

TEST_CASE("a gzip file cut off or damaged in the middle gives the events before") {
    std::vector<std::string> events;
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
        events.push_back(gpu_event("kernel", "\"ts\": " + std::to_string(i) + "." + std::to_string(random() % 1000) + ", \"dur\": 0.5",
                                   "\"correlation\": " + std::to_string(random())));
    }
    const std::string packed = gzip(object(events));
    const Trace cut = read(packed.substr(0, packed.size() / 2));
    check_columns(cut);
    CHECK(cut.truncated);
    CHECK(cut.kernels.size() > 500);
    CHECK(cut.kernels.size() < 3000);
    REQUIRE(codes(cut) == Codes{"ADP-KIN-020"});
    CHECK(cut.limits[0].message.find("the gzip data stops before its end mark") != std::string::npos);

    // What can be decoded but is not what was compressed, and what is no code at all: the reserved kind of block.
    std::string damaged = packed;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(packed.size() / 2), damaged.end() - 200, '\xff');
    const Trace decodable = read(damaged);
    check_columns(decodable);
    CHECK(decodable.truncated);
    CHECK(decodable.kernels.size() > 500);
    CHECK(decodable.limits[0].message.find("the gzip checksum does not fit the text") != std::string::npos);

    const std::string text = object(events);
    std::string second_member = gzip(text.substr(text.size() / 2));
    second_member[10] = '\x07';
    const Trace rest = read(gzip(text.substr(0, text.size() / 2)) + second_member);
    check_columns(rest);
    CHECK(rest.truncated);
    CHECK(rest.kernels.size() > 1000);
    REQUIRE(codes(rest) == Codes{"ADP-KIN-020"});
    CHECK(rest.limits[0].message.find("the gzip data is damaged from there on") != std::string::npos);

    std::string checksum = packed;
    checksum[checksum.size() - 7] ^= 0x10;
    const Trace odd = read(checksum);
    CHECK(odd.kernels.size() == 3000);
    CHECK(codes(odd) == Codes{"ADP-KIN-021"});
}

TEST_CASE("the form of 2021: other categories, whole microseconds, texts for numbers") {
    const Trace trace = read(object({
        R"({"ph": "X", "cat": "Operator", "name": "aten::add", "pid": 42, "tid": "42", "ts": 1000, "dur": 20, "args": {"External id": 5, "Call stack": "a;b"}})",
        R"({"ph": "X", "cat": "Operator", "name": "ProfilerStep#7", "pid": 42, "tid": "42", "ts": 900, "dur": 200, "args": {"External id": 4}})",
        R"({"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 42, "tid": "42", "ts": 1001, "dur": 2, "args": {"cbid": 1, "correlation": 8, "external id": 5}})",
        R"({"ph": "X", "cat": "Kernel", "name": "k", "pid": 1, "tid": "stream 9", "ts": 1010, "dur": 3, "args": {"correlation": 8, "external id": 5}})",
        R"({"ph": "X", "cat": "Memcpy", "name": "copy", "pid": 1, "tid": "stream 9", "ts": 1020, "dur": 3, "args": {"device": 1, "stream": 9, "external id": 6, "bytes": 8}})",
        R"({"ph": "X", "cat": "Memset", "name": "set", "pid": 1, "tid": "stream 9", "ts": 1030, "dur": 3, "args": {}})",
    }));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-029"});
    CHECK(trace.resolution == 1000);
    REQUIRE(trace.kernels.size() == 3);
    CHECK(trace.kernels.stream == std::vector<std::int64_t>{9, 9, 9});
    CHECK(trace.kernels.device == std::vector<std::int32_t>{1, 1, 1});
    CHECK(trace.kernels.external == std::vector<std::uint64_t>{5, 6, no_id});
    CHECK(trace.kernels.start[0] == 1010000);
    CHECK(trace.annotations.source[0] == Annotations::Source::cpu_op);
    CHECK(trace.annotations.source[1] == Annotations::Source::user);
    CHECK(trace.launches.thread[0] == trace.annotations.thread[0]);
}

TEST_CASE("annotated kernels carry node, module and layer, and their streams are not raw") {
    const Trace trace = read(object({
        gpu_event("kernel", R"("ts": 1.5, "dur": 1)", R"("module_fqn": "model.layers.3.mlp", "name": "linear_7", "layer": 3)"),
        gpu_event("kernel", R"("ts": 3, "dur": 1)", R"("module_fqn": "model.layers.4", "layer": "layers.4")"),
        gpu_event("kernel", R"("ts": 5, "dur": 1)"),
    }));
    check_columns(trace);
    CHECK(trace.streams_rewritten);
    CHECK(codes(trace) == Codes{"ADP-KIN-031"});
    const Kernels& k = trace.kernels;
    CHECK(trace.string(k.annotation[0]) == "linear_7");
    CHECK(trace.string(k.annotation_module[1]) == "model.layers.4");
    CHECK(k.annotation[1] == 0);
    CHECK(k.annotation_layer == std::vector<std::int32_t>{3, 4, -1});
}

TEST_CASE("CUPTI's packed ids give the graph where no graph id stands") {
    const std::string node = std::to_string((std::uint64_t{12} << 32) | 5);
    const Trace trace = read(list({gpu_event("kernel", R"("ts": 1.5, "dur": 1)", "\"graph node id\": " + node)}));
    CHECK(trace.kernels.graph[0] == 12);
}

TEST_CASE("what standard JSON forbids is read all the same") {
    const std::string control = gpu_event("kernel", "\"ts\": 40, \"dur\": 1") + "\x01";
    const Trace trace = read("\xef\xbb\xbf [" + one + ",, " + two + ",\n" +
                             R"({"ph": "X", "cat": "kernel", "name": "tab)"
                             "\t\x01\n"
                             R"( end", "ts": 40.5, "dur": 1, "dur": 2, "args": {"a": NaN, "b": -Infinity, "stream": 3, "stream": 4,}},)" +
                             "\n]");
    check_columns(trace);
    CHECK(codes(trace) == Codes{});
    REQUIRE(trace.kernels.size() == 3);
    CHECK(trace.string(trace.kernels.name[2]) == "tab\t\x01\n end");
    CHECK(trace.kernels.end[2] == 42500);
    CHECK(trace.kernels.stream[2] == 4);
}

TEST_CASE("keys may come in any order and members in any place") {
    const Trace trace = read(
        R"({"traceEvents": [{"args": {"stream": 5, "grid": [1,2,3]}, "dur": 1.5, "ts": 2, "name": "k", "cat": "kernel", "ph": "X", "pid": 3}],
        "huge": ")" +
            std::string(100000, 'x') + R"(", "deviceProperties": [{"name": "late", "id": 3}], "traceEvents": [)" + two + "]}",
        777);
    check_columns(trace);
    REQUIRE(trace.kernels.size() == 2);
    CHECK(trace.kernels.stream[0] == 5);
    CHECK(trace.kernels.device[0] == 3);
    CHECK(trace.devices.at(0).name == "late");
}

TEST_CASE("no event lasts a day, or lies centuries away") {
    const Trace trace = read(object({
        gpu_event("kernel", R"("ts": 1.5, "dur": 86400000000)"),
        gpu_event("kernel", R"("ts": 9000000000000000, "dur": 1)"),
        gpu_event("kernel", R"("ts": 2.5, "dur": 9000000000000000)"),
    }));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-026", "ADP-KIN-027"});
    CHECK(trace.limits[1].message ==
          "1 event without a valid duration taken as 0 ns: 0 missing or unreadable, 0 negative, 1 longer than a day");
    CHECK(trace.kernels.end == std::vector<Nanoseconds>{1500 + longest_duration, 2500});
}

TEST_CASE("missing and negative durations are 0, and counted, without a time an event is left out but keeps its number") {
    const Trace trace = read(object({
        gpu_event("kernel", R"("ts": 1.5)"),
        gpu_event("kernel", R"("ts": 2, "dur": -3)"),
        gpu_event("kernel", R"("dur": 1)"),
        gpu_event("kernel", R"("ts": "Infinity", "dur": 1)"),
        gpu_event("kernel", R"("ts": 9, "dur": 1)"),
    }));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-026", "ADP-KIN-027"});
    CHECK(trace.limits[0].message == "2 events without a readable time (ts) left out");
    CHECK(trace.limits[1].message == "2 events without a valid duration taken as 0 ns: 1 missing or unreadable, 1 negative");
    CHECK(trace.kernels.row == std::vector<std::int64_t>{0, 1, 4});
    CHECK(trace.kernels.end == std::vector<Nanoseconds>{1500, 2000, 10000});
}

TEST_CASE("a duration that outlasts the next two events of its stream is cut, overlap with the next one is not") {
    const auto at = [](const char* start, const char* duration) {
        return gpu_event("kernel", std::string("\"ts\": ") + start + ", \"dur\": " + duration);
    };
    const Trace trace = read(object({at("1", "9000000000000.5"), at("2", "3"), at("5.5", "3"), at("8", "1"), at("9", "1")}));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-028"});
    CHECK(trace.kernels.end == std::vector<Nanoseconds>{2000, 5000, 8500, 9000, 10000});

    // Where each overlaps its next, nothing says which of them was measured wrong.
    const Trace chain = read(object({at("1", "7.5"), at("2", "3"), at("4.5", "3"), at("8", "1")}));
    CHECK(codes(chain) == Codes{});
    CHECK(chain.kernels.end == std::vector<Nanoseconds>{8500, 5000, 7500, 9000});
}

TEST_CASE("a duration below zero that was written without its sign is none") {
    const Trace trace = read(object({gpu_event("kernel", R"("ts": 1.5, "dur": 18446744073709551.5)"), two}));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-027"});
    CHECK(trace.limits[0].message == "1 event without a valid duration taken as 0 ns: 1 missing or unreadable, 0 negative");
    CHECK(trace.kernels.end == std::vector<Nanoseconds>{1500, 21000});
}

TEST_CASE("events that cannot be read are skipped, and reading goes on behind them") {
    const std::string bad = R"({"ph": "X", "cat": "kernel", "name": "say "hi" {", "ts": 15, "dur": 1, "args": {"stream": 1}})";
    const Trace trace = read(object({one, bad, two, R"({"ph" "X"})", three}), 40);
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-023"});
    CHECK(trace.limits[0].message.substr(0, 37) == "2 events could not be read as JSON; t");
    CHECK(trace.kernels.start == std::vector<Nanoseconds>{10500, 20000, 30000});
}

TEST_CASE("an event of absurd size is left out without being held in memory") {
    const std::string huge = R"({"ph": "X", "cat": "kernel", "name": ")" + std::string(40'000'000, 'n') + R"(", "ts": 15, "dur": 1})";
    const Trace trace = read(object({one, huge, two}));
    check_columns(trace);
    CHECK(codes(trace) == Codes{"ADP-KIN-024"});
    CHECK(trace.kernels.size() == 2);
}

TEST_CASE("kernels of a file merged from ranks stay with their own processes") {
    const auto event = [](const char* pid, int correlation) {
        return std::string(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": ")") + pid +
               R"(", "tid": 7, "ts": 5.5, "dur": 1, "args": {"correlation": )" + std::to_string(correlation) + "}}";
    };
    const Trace trace = read(list({call("\"[TP00] 42\"", 1), call("\"[TP01] 42\"", 1), event("[TP00] 0", 1), event("[TP01] 1", 1)}));
    check_columns(trace);
    REQUIRE(trace.processes.size() == 2);
    CHECK(trace.kernels.process == std::vector<std::uint16_t>{0, 1});
    CHECK(trace.kernels.device == std::vector<std::int32_t>{0, 1});
    CHECK(trace.processes[1].pid == 42);

    // Two processes without such a mark: the correlation id tells them apart.
    const Trace two_pids = read(
        list({call("42", 1), call("42", 2), call("43", 3), gpu_event("kernel", R"("ts": 1.5, "dur": 1)", "\"correlation\": 3"),
              gpu_event("kernel", R"("ts": 3, "dur": 1)", "\"correlation\": 2")}));
    CHECK(two_pids.kernels.process == std::vector<std::uint16_t>{1, 0});
}

TEST_CASE("Python frames that the profiler gave process 0 belong to the one process there is") {
    const Trace trace = read(
        list({R"({"ph": "X", "cat": "python_function", "name": "nn.Module: A_0", "pid": 0, "tid": 0, "ts": 1.5, "dur": 1})", call("42", 1),
              one}));
    check_columns(trace);
    REQUIRE(trace.processes.size() == 1);
    CHECK(trace.processes[0].pid == 42);
    CHECK(trace.annotations.process[0] == 0);
}

TEST_CASE("a trace without kernels says so") {
    const Trace trace = read(object({call("42", 1)}));
    CHECK(codes(trace) == Codes{"ADP-KIN-029", "ADP-KIN-030"});
    CHECK(codes(read(R"({"traceEvents": []})")) == Codes{"ADP-KIN-030"});
}

TEST_CASE("what is no trace is refused with one diagnostic") {
    CHECK(error_of("") == "ADP-KIN-001");
    CHECK(error_of(" \n ") == "ADP-KIN-001");
    CHECK(error_of(gzip("")) == "ADP-KIN-001");
    CHECK(error_of("<!DOCTYPE html><html></html>") == "ADP-KIN-002");
    CHECK(error_of(std::string("SQLite format 3\0 and more", 25)) == "ADP-KIN-002");
    CHECK(error_of(std::string(100, '\0')) == "ADP-KIN-002");
    CHECK(error_of("some text") == "ADP-KIN-002");
    CHECK(error_of("{}") == "ADP-KIN-003");
    CHECK(error_of(R"({"a": {"traceEvents": []}, "b": 1})") == "ADP-KIN-003");
    CHECK(error_of("[1, 2, {\"x\": 3}]") == "ADP-KIN-003");
    CHECK(error_of("\x1f\x8b\x08\x00 no gzip") == "ADP-KIN-004");
    CHECK(error_of(R"({"schemaVersion": 1, "devi)") == "ADP-KIN-005");
    CHECK(error_of("[" + one.substr(0, 30)) == "ADP-KIN-005");
    CHECK(error_of("{,,}") == "ADP-KIN-003");
    CHECK(error_of("{5}") == "ADP-KIN-005");
    CHECK(error_of(std::string(1000, '[')) == "ADP-KIN-005");
    CHECK(error_of("[" + std::string(100000, '{')) == "ADP-KIN-005");
}

TEST_CASE("a small file that unpacks to gigabytes costs neither memory nor time") {
    const std::string zeros = gzip(std::string(8'000'000, '\0'));
    std::string bomb;
    for (int i = 0; i < 200; ++i) bomb += zeros;  // 1.6 GB
    CHECK(error_of(bomb) == "ADP-KIN-002");
    CHECK(codes(read(gzip(object({one})) + bomb)) == Codes{"ADP-KIN-022"});
}

TEST_CASE("what follows the trace is left alone") {
    const Trace trace = read(object({one}) + "\n\n{\"traceEvents\": [" + two + "]}");
    CHECK(trace.kernels.size() == 1);
    CHECK(codes(trace) == Codes{"ADP-KIN-022"});
    CHECK(codes(read(gzip(object({one})) + "no gzip")) == Codes{"ADP-KIN-022"});
}

TEST_CASE("stopping gives what was read so far, and finds no fault with the file") {
    const TemporaryFile file(sample());
    for (int most = 0; most < 6; ++most) {
        CAPTURE(most);
        kineto::ReadOptions options;
        options.chunk_size = 300;
        int asked = 0;
        options.stop = [&] { return ++asked > most; };
        const Trace trace = kineto::read_trace(file.path(), options);
        check_columns(trace);
        CHECK(asked == most + 1);
        CHECK_FALSE(trace.truncated);
        CHECK(codes(trace) == Codes{});
        CHECK((trace.annotations.size() > 0) == (most >= 2));
        CHECK((trace.kernels.size() == 2) == (most >= 5));
    }
}

TEST_CASE("texts changed at random are read or refused, and never leave a trace that contradicts itself") {
    std::mt19937 random(20240611);
    const std::string plain = sample();
    const std::string packed = gzip(plain);
    const std::string pieces[] = {"{",           "}",    "[",     "]", "\"", "\\", ",", ":", "null", "1e999", "-1", "\0", "{\"ph\": \"X\"",
                                  "traceEvents", "\xff", "}, {\""};
    int refused = 0;
    constexpr int rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
        const bool gz = round % 4 == 3;
        std::string text = gz ? packed : plain;
        for (auto changes = random() % 6 + 1; changes > 0; --changes) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text.erase(at, random() % 40); break;
                case 2: text.insert(at, pieces[random() % std::size(pieces)]); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 200)); break;
            }
            if (text.empty()) text = "{";
        }
        CAPTURE(round);
        try {
            check_columns(read(text, round % 2 == 0 ? 4096 : 61));
        } catch (const Error& error) {
            ++refused;
            const std::string& code = error.diagnostics().front().code;
            REQUIRE(code.substr(0, 8) == "ADP-KIN-");
        }
    }
    CHECK(refused > 0);
    CHECK(refused < rounds / 2);
}

TEST_CASE("events that are read ahead are those that the reader reads itself, and a text that looks like one misleads nobody") {
    // Names hold what looks like the border of two events, and what would be one.
    const std::string trap =
        R"({"ph": "X", "cat": "kernel", "name": "}, {\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}, {\"", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"stream": 7, "list": [{"a": 1}, {"ph": "X"}, {"b": 2}]}})";
    std::vector<std::string> events;
    std::mt19937 random(3);
    for (int i = 0; i < 3000; ++i) {
        const std::string times = R"("ts": )" + std::to_string(10 * i) + R"(, "dur": )" + std::to_string(random() % 10);
        events.push_back(random() % 5 == 0   ? trap
                         : random() % 3 == 0 ? R"({"ph": "f", "id": 1, "cat": "ac2g", "name": "ac2g"})"
                                             : gpu_event("kernel", times));
        if (random() % 50 == 0) events.push_back(R"({"ph": "B", "cat": "kernel", "name": "begin", "ts": 1})");
    }
    const std::string text = object(events);
    const Trace whole = read(text, text.size() + 1);  // one chunk: nothing is read ahead
    for (const std::size_t size : {300, 1000, 5000}) {
        CAPTURE(size);
        const Trace trace = read(text, size);
        CHECK(trace.kernels.start == whole.kernels.start);
        CHECK(trace.kernels.end == whole.kernels.end);
        CHECK(trace.kernels.row == whole.kernels.row);
        CHECK(codes(trace) == codes(whole));
    }
}

TEST_CASE("what is read ahead begins at the first event that is whole, and ends before the first that is not") {
    const std::string text = "\"}" + one.substr(20) + ",\n" + two + ", " + three + ",\n" + one.substr(0, 30);
    std::string padded = text + std::string(kineto::Cursor::padding, '\0');
    kineto::EventsAhead ahead;
    kineto::AheadReader(kineto::PythonEvents::none, false).read(padded.data(), padded.data() + text.size(), ahead);
    CHECK(ahead.begin - padded.data() == static_cast<std::ptrdiff_t>(text.find(two)));
    CHECK(ahead.end - padded.data() == static_cast<std::ptrdiff_t>(text.find(three) + three.size()));
    CHECK(ahead.count == 2);
    CHECK(ahead.with_phase == 2);
    REQUIRE(ahead.events.size() == 2);
    CHECK(ahead.events[1].category == kineto::Category::memcpy);
    ahead.clear();
    kineto::AheadReader(kineto::PythonEvents::none, false).read(padded.data(), padded.data() + 40, ahead);
    CHECK(ahead.count == 0);
}
