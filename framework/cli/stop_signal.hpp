#pragma once

#include <atomic>

namespace adpipe::cli {

/// While it lives, Ctrl-C (and SIGTERM) sets a flag; the second one ends the program as usual.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    const std::atomic<bool>& flag() const noexcept;
    /// Which signal came: what a shell expects as exit status is 128 more.
    int number() const noexcept;
};

}  // namespace adpipe::cli
