#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace adpipe::nsys {

/// A recording as `nsys profile` leaves it (.nsys-rep, before 2021 .qdrep): a format that Nsight Systems alone reads.
bool is_recording(const std::filesystem::path& file);

/// What `nsys export` makes of a recording, in a temporary directory that goes with this.
class Export {
public:
    /// Runs `program export --type sqlite …`. Throws Error: ADP-NSYS-009 where the program is missing, ADP-NSYS-010 where it fails, takes longer
    /// than `limit`, or writes nothing. If `stop_requested` returns true meanwhile, `database()` is empty.
    Export(const std::filesystem::path& recording, const std::string& program, std::chrono::milliseconds limit,
           const std::function<bool()>& stop_requested);
    ~Export();
    Export(const Export&) = delete;
    Export& operator=(const Export&) = delete;

    const std::filesystem::path& database() const noexcept { return database_; }

private:
    void run(const std::filesystem::path& recording, const std::string& program, std::chrono::milliseconds limit,
             const std::function<bool()>& stop_requested);

    std::filesystem::path directory_;
    std::filesystem::path database_;
};

}  // namespace adpipe::nsys
