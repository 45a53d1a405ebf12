#include "cli/stop_signal.hpp"

#include <csignal>

namespace adpipe::cli {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> stop_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free, "a signal handler sets them");

void request_stop(int number) {
    stop_number.store(number);
    stop_requested.store(true);
}

void handle(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // A shell starts background jobs with SIGINT ignored; that stays so.
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        (void)::sigaction(signal, &action, nullptr);
    }
}

}  // namespace

StopSignal::StopSignal() {
    stop_requested.store(false);
    handle(request_stop);
}

StopSignal::~StopSignal() { handle(SIG_DFL); }

const std::atomic<bool>& StopSignal::flag() const noexcept { return stop_requested; }
int StopSignal::number() const noexcept { return stop_number.load(); }

}  // namespace adpipe::cli
