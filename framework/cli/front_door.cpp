#include "cli/front_door.hpp"

#include "cli/command_line.hpp"
#include "config/suggest.hpp"

#include <adpipe/diagnostic.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

namespace adpipe::cli {
namespace {

namespace fs = std::filesystem;

/// The first bytes of a file. Throws Error if it cannot be read.
std::string beginning_of(const fs::path& file, std::size_t most) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    std::string bytes(most, '\0');
    const ssize_t count = descriptor < 0 ? -1 : ::read(descriptor, bytes.data(), bytes.size());
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (count < 0) throw Error("ADP-IO-001", fmt::format("cannot open {}: {}", file.string(), std::generic_category().message(error)));
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
}

bool begins_with(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

/// SQLite keeps the texts of CREATE statements in the pages that were written first.
bool is_rocpd(const fs::path& file) { return beginning_of(file, 1U << 20U).find("rocpd_kernel_dispatch") != std::string::npos; }

const char* trace_stage(const fs::path& file) {
    if (file.extension() == ".nsys-rep") return "trace.nsys";
    const std::string begin = beginning_of(file, 4096);
    if (begins_with(begin, std::string_view{"SQLite format 3\0", 16})) return is_rocpd(file) ? "trace.rocpd" : "trace.nsys";
    const std::string first_line = begin.substr(0, begin.find('\n'));
    if (first_line.find("Kernel_Name") != std::string::npos && first_line.find(',') != std::string::npos) return "trace.rocprof_csv";
    if (begins_with(begin, "\x1f\x8b")) return "trace.kineto";
    const std::size_t first = begin.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string::npos && (begin[first] == '{' || begin[first] == '[')) return "trace.kineto";
    return nullptr;
}

}  // namespace

void add_dump(PipelineBuilder& pipeline, const fs::path& path, const std::optional<std::string>& module) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        pipeline.add("select.final").with("directory", path);
    } else {
        pipeline.add("select.file").with("file", path);
    }
    auto parse = pipeline.add("parse.autodeploy");
    if (module) parse.with("module", *module);
}

void add_trace(PipelineBuilder& pipeline, const fs::path& file) {
    const char* const stage = trace_stage(file);
    if (stage == nullptr) {
        throw Error("ADP-USE-008", fmt::format("{} is no trace that adpipe knows", file.string()),
                    "a trace is an SQLite export of Nsight Systems (nsys export -t sqlite), JSON of the PyTorch profiler, also as .gz, "
                    "or rocprofv3's rocpd database or kernel_trace.csv");
    }
    pipeline.add(stage).with("file", file);
}

std::optional<int> check_choice(const std::string& verb, const std::string& option, const std::string& value,
                                std::initializer_list<const char*> choices) {
    if (std::any_of(choices.begin(), choices.end(), [&](const char* choice) { return value == choice; })) return std::nullopt;
    const std::vector<std::string> names{choices.begin(), choices.end()};
    return usage_error("ADP-USE-007", fmt::format("--{} is one of {}; found '{}'", option, fmt::join(names, ", "), value), verb,
                       nearest_name(value, names).empty() ? "" : fmt::format("did you mean '{}'?", nearest_name(value, names)));
}

}  // namespace adpipe::cli
