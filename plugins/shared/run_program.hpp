#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::shared {

struct ProgramRun {
    enum class Result { ok, not_found, timed_out, failed, stopped };
    Result result = Result::ok;
    std::string output;
    std::string errors;  ///< what the program wrote on its standard error, cut to some lines
    std::string status;  ///< "exit status 1", "signal 9"
};

/// Runs `program arguments…` with `input` on its standard input, and collects its standard output. Kills it, with its children, after
/// `limit`, or once `stop_requested` returns true. No shell; no file is made.
ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments, std::string_view input,
                       std::chrono::milliseconds limit, const std::function<bool()>& stop_requested);

}  // namespace adpipe::shared
