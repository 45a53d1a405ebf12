#include "export.hpp"

#include "../shared/run_program.hpp"

#include <adpipe/diagnostic.hpp>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace adpipe::nsys {
namespace fs = std::filesystem;

bool is_recording(const fs::path& file) { return file.extension() == ".nsys-rep" || file.extension() == ".qdrep"; }

Export::Export(const fs::path& recording, const std::string& program, std::chrono::milliseconds limit,
               const std::function<bool()>& stop_requested) {
    std::error_code error;
    if (!fs::exists(recording, error)) {
        throw Error("ADP-IO-001",
                    "cannot open " + recording.string() + ": " + std::generic_category().message(error ? error.value() : ENOENT));
    }
    std::string name = (fs::temp_directory_path() / "adpipe-export-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw Error("ADP-NSYS-010", "cannot make a directory for the export: " + std::generic_category().message(errno),
                    "set TMPDIR to a directory with room for the recording as SQLite, which takes several times its size");
    }
    directory_ = name;
    try {
        run(recording, program, limit, stop_requested);
    } catch (...) {
        fs::remove_all(directory_, error);
        throw;
    }
}

Export::~Export() {
    std::error_code error;
    fs::remove_all(directory_, error);
}

void Export::run(const fs::path& recording, const std::string& program, std::chrono::milliseconds limit,
                 const std::function<bool()>& stop_requested) {
    using Result = shared::ProgramRun::Result;
    const fs::path made = directory_ / "trace.sqlite";
    const shared::ProgramRun run = shared::run_program(program,
                                                       {"export", "--type", "sqlite", "--output", made.string(), recording.string()}, {},
                                                       limit, stop_requested);
    std::error_code error;
    switch (run.result) {
        case Result::stopped: return;
        case Result::ok:
            if (fs::is_regular_file(made, error)) {
                database_ = made;
                return;
            }
            break;
        case Result::not_found:
            throw Error("ADP-NSYS-009",
                        recording.string() + " is a recording that Nsight Systems alone reads, and there is no '" + program + "' here",
                        "export it where Nsight Systems is: nsys export --type sqlite " + recording.filename().string());
        case Result::timed_out:
        case Result::failed: break;
    }
    Diagnostic failure;
    failure.code = "ADP-NSYS-010";
    failure.message = "'" + program + " export' made no SQLite of " + recording.string() + ": ";
    failure.message += run.result == Result::timed_out ? "it took longer than " + std::to_string(limit.count() / 1000) + " s"
                       : run.result == Result::failed  ? run.status
                                                       : "it wrote nothing";
    const std::size_t said = run.errors.find_last_not_of(" \t\r\n") + 1;
    if (said > 0) failure.notes.push_back("it says: " + run.errors.substr(0, said));
    failure.hint = "a recording of a newer version needs an nsys as new; a cut-off one cannot be exported";
    throw Error(std::move(failure));
}

}  // namespace adpipe::nsys
