#include "report.hpp"

#include <adpipe/diagnostic.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace adpipe::kineto {

namespace {

Diagnostic make(Severity severity, const char* code, const std::filesystem::path& file, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    return diagnostic;
}

[[noreturn]] void fail(const char* code, const std::filesystem::path& file, std::string message, std::string hint = {}) {
    Diagnostic diagnostic = make(Severity::error, code, file, std::move(message));
    diagnostic.hint = std::move(hint);
    throw Error(std::move(diagnostic));
}

/// "1 event", "3 events".
std::string count(std::uint64_t number, const std::string& noun) { return std::to_string(number) + " " + noun + (number == 1 ? "" : "s"); }

std::string at_byte(std::uint64_t offset) { return "byte " + std::to_string(offset) + " of the text"; }

/// 7764762801971451 ns as "7764762801971.451 us", the form that the file uses.
std::string microseconds(Nanoseconds time) {
    const std::string sign = time < 0 ? "-" : "";
    const std::uint64_t size = time < 0 ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
    const std::string fraction = std::to_string(size % 1000);
    return sign + std::to_string(size / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction + " us";
}

const char* stream_problem(StreamEnd end) {
    switch (end) {
        case StreamEnd::cut_gzip: return "the gzip data stops before its end mark";
        case StreamEnd::damaged_gzip: return "the gzip data is damaged from there on";
        case StreamEnd::read_error: return "the file could not be read further";
        case StreamEnd::wrong_checksum: return "the gzip checksum does not fit the text";
        default: return nullptr;
    }
}

const char* rerecord_hint() {
    return "let the program call profiler.stop() and wait for the export to end before it exits or copies the file";
}

/// What the beginning of a file that is no JSON says it is; empty if nothing known.
struct KnownBeginning {
    std::string_view bytes;
    const char* what;
    const char* hint;
};

using namespace std::string_view_literals;

constexpr KnownBeginning known_beginnings[] = {
    {"SQLite format 3\0"sv, "an SQLite database", "Nsight Systems exports are read by trace.nsys, rocprofiler databases by trace.rocpd"},
    {"PK\3\4"sv, "a ZIP archive", "unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "unpack it first: zstd -d"},
    {"\xfd\x37zXZ\0"sv, "compressed by xz", "unpack it first: xz -d"},
    {"BZh"sv, "compressed by bzip2", "unpack it first: bzip2 -d"},
    {"\xff\xfe"sv, "UTF-16 text", "save it as UTF-8"},
    {"\xfe\xff"sv, "UTF-16 text", "save it as UTF-8"},
    {"\x7f"
     "ELF"sv,
     "a program", ""},
    {"<"sv, "HTML or XML", "a download that needs a login often saves the login page in place of the file"},
    {"version https://git-lfs"sv, "a Git LFS pointer", "fetch the file itself: git lfs pull"},
    {"\"Kind\""sv, "CSV", "kernel traces of rocprofv3 are read by trace.rocprof_csv"},
};

/// The beginning of a text as it can be shown.
std::string excerpt(std::string_view text) {
    constexpr std::size_t longest = 40;
    const std::size_t line = std::min({text.find('\n'), text.size(), longest});
    return decode_text({text.data(), line, false});
}

bool looks_binary(std::string_view text) {
    return std::any_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(text.size(), 512)),
                       [](char ch) { return static_cast<unsigned char>(ch) < ' ' && ch != '\n' && ch != '\r' && ch != '\t'; });
}

class Limits {
public:
    Limits(const Findings& findings, const Ending& ending, Trace& trace) : findings_(findings), ending_(ending), trace_(trace) {}

    void add_all() {
        add_ending();
        add_events();
        add_times();
        add_kernels();
    }

private:
    Diagnostic& add(Severity severity, const char* code, std::string message) {
        return trace_.limits.emplace_back(make(severity, code, trace_.file, std::move(message)));
    }

    void add_ending();
    void add_events();
    void add_times();
    void add_kernels();
    std::string kept() const;

    const Findings& findings_;
    const Ending& ending_;
    Trace& trace_;
};

/// "kept: 5219 events, 1200 of the GPU, the last of them at 7764762801971.451 us".
std::string Limits::kept() const {
    const Kernels& k = trace_.kernels;
    std::string text = "kept: " + count(findings_.events, "event") + ", " + std::to_string(k.size()) + " of the GPU";
    if (k.size() > 0) text += ", the last of them at " + microseconds(*std::max_element(k.start.begin(), k.start.end()));
    return text;
}

void Limits::add_ending() {
    if (ending_.cut || ending_.damaged) {
        trace_.truncated = true;
        const char* const reason = stream_problem(ending_.stream);
        std::string message = ending_.damaged ? "the text is no JSON from " + at_byte(ending_.offset) + " on"
                                              : "the file is cut off: its text ends inside the trace, after " + at_byte(ending_.offset);
        if (reason) message += "; " + std::string(reason);
        Diagnostic& d = add(Severity::warning, "ADP-KIN-020", std::move(message));
        d.notes = {kept(), "lost: every event that stood behind, and the names of processes and threads"};
        d.hint = rerecord_hint();
    } else if (const char* const reason = stream_problem(ending_.stream)) {
        Diagnostic& d = add(Severity::warning, "ADP-KIN-021", std::string("the trace is whole, but ") + reason);
        d.hint = "copy the file again if numbers look odd: some of its text may be wrong";
    }
    if (ending_.rest) {
        add(Severity::note, "ADP-KIN-022", "what follows the end of the trace at " + at_byte(ending_.offset) + " is not read");
    } else if (ending_.stream == StreamEnd::trailing_bytes) {
        add(Severity::note, "ADP-KIN-022", "what follows the gzip data is not read");
    }
}

void Limits::add_events() {
    if (ending_.damaged_events > 0) {
        Diagnostic& d = add(Severity::warning, "ADP-KIN-023",
                            count(ending_.damaged_events, "event") + " could not be read as JSON; the first at " +
                                at_byte(ending_.damaged_offset));
        d.hint = "a quote inside a name that is not escaped does this";
    }
    if (ending_.oversized_events > 0) {
        add(Severity::warning, "ADP-KIN-024", count(ending_.oversized_events, "event") + " of more than 16 MiB left out");
    }
    if (findings_.begin_end_pairs > 0) {
        add(Severity::warning, "ADP-KIN-025",
            count(findings_.begin_end_pairs, "event") + " of phase B or E left out: only complete events (phase X) are read");
    }
}

void Limits::add_times() {
    if (findings_.without_start > 0) {
        add(Severity::warning, "ADP-KIN-026", count(findings_.without_start, "event") + " without a readable time (ts) left out");
    }
    const std::uint64_t invalid = findings_.without_duration + findings_.negative_duration + findings_.overlong_duration;
    if (invalid > 0) {
        std::string text = count(invalid, "event") + " without a valid duration taken as 0 ns: ";
        text += std::to_string(findings_.without_duration) + " missing or unreadable, " + std::to_string(findings_.negative_duration) +
                " negative";
        if (findings_.overlong_duration > 0) text += ", " + std::to_string(findings_.overlong_duration) + " longer than a day";
        add(Severity::warning, "ADP-KIN-027", std::move(text));
    }
    if (findings_.overrunning > 0) {
        Diagnostic& d = add(Severity::warning, "ADP-KIN-028",
                            count(findings_.overrunning, "GPU event") + " cut: its duration outlasts the next two on its stream");
        d.notes = {"such an event ends where the next one begins"};
    }
    if (trace_.resolution > 1) {
        add(Severity::note, "ADP-KIN-029", "times are whole microseconds: the duration of a short kernel says little").hint =
            "record with a newer PyTorch, which writes nanoseconds";
    }
}

void Limits::add_kernels() {
    if (trace_.kernels.size() == 0) {
        Diagnostic& d = add(Severity::warning, "ADP-KIN-030", "no kernel at all: the trace holds no GPU event");
        d.notes = {"it holds " + count(trace_.annotations.size(), "host range") + " and " + count(trace_.launches.size(), "runtime call")};
        d.hint = "record with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) while the GPU works";
    } else if (trace_.streams_rewritten) {
        Diagnostic& d = add(Severity::note, "ADP-KIN-031", "stream numbers are not raw: annotations were merged into the kernels");
        d.notes = {"the tool that does this moves kernels to other streams and shifts starts by up to 1 us"};
    }
}

}  // namespace

void throw_unreadable(const std::filesystem::path& file, const ChunkStream& stream) {
    switch (stream.end()) {
        case StreamEnd::read_error: fail("ADP-IO-001", file, "cannot read: " + std::generic_category().message(stream.read_errno()));
        case StreamEnd::cut_gzip:
        case StreamEnd::damaged_gzip:
        case StreamEnd::wrong_checksum:
            fail("ADP-KIN-004", file, "the gzip data is damaged from its start: nothing could be unpacked", "copy the file again");
        default: fail("ADP-KIN-001", file, stream.file_size() == 0 ? "the file is empty" : "the file holds no text");
    }
}

void throw_foreign(const std::filesystem::path& file, std::string_view beginning) {
    constexpr const char* code = "ADP-KIN-002";
    const std::string lead = "this is no PyTorch profiler trace: ";
    for (const KnownBeginning& known : known_beginnings) {
        if (beginning.substr(0, known.bytes.size()) == known.bytes) fail(code, file, lead + "it is " + known.what, known.hint);
    }
    if (looks_binary(beginning)) fail(code, file, lead + "it holds binary data");
    fail(code, file, lead + "it is no JSON, it begins with '" + excerpt(beginning) + "'");
}

void report(const Header& header, const Findings& findings, const Ending& ending, Trace& trace) {
    const bool incomplete = ending.cut || ending.damaged;
    if (incomplete && findings.events == 0) {
        const char* const reason = stream_problem(ending.stream);
        fail("ADP-KIN-005", trace.file,
             std::string(ending.damaged ? "no JSON from " : "the file is cut off before its first event, after ") + at_byte(ending.offset) +
                 (reason ? std::string("; ") + reason : ""),
             ending.damaged ? "" : rerecord_hint());
    }
    if (!header.has_events) {
        std::string keys;
        for (const std::string& key : header.keys) keys += (keys.empty() ? "" : ", ") + key;
        if (std::find(header.keys.begin(), header.keys.end(), "traceEvents") != header.keys.end()) {
            fail("ADP-KIN-003", trace.file, "this JSON is no trace: its \"traceEvents\" is no list");
        }
        fail("ADP-KIN-003", trace.file,
             "this JSON is no trace: it has no \"traceEvents\"" + (keys.empty() ? " and is empty" : "; its keys are: " + keys));
    }
    if (findings.events > 0 && findings.with_phase == 0) {
        fail("ADP-KIN-003", trace.file, "this JSON is no trace: none of its " + count(findings.events, "event") + " has a phase (ph)");
    }
    trace.epoch = std::max<std::int64_t>(header.base_time, 0);
    trace.devices = header.devices;
    trace.simulated = header.simulated;
    trace.profiler_messages = header.messages;
    if (trace.processes.size() == 1) trace.processes.front().rank = header.rank;
    if (!findings.fractions && trace.kernels.size() + trace.annotations.size() + trace.launches.size() > 0) trace.resolution = 1000;
    Limits(findings, ending, trace).add_all();
}

}  // namespace adpipe::kineto
