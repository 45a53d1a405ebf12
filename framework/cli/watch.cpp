#include "cli/watch.hpp"

#include "cli/command_line.hpp"
#include "cli/console.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace adpipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds pause{250};

/// Size and time of change of each file. What cannot be looked at counts as not there.
using Looks = std::map<fs::path, std::pair<std::uintmax_t, fs::file_time_type>>;

void add_look(Looks& looks, const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error) return;
    const auto time = fs::last_write_time(file, error);
    if (!error) looks[file] = {size, time};
}

Looks look_at(const std::vector<fs::path>& inputs) {
    Looks looks;
    for (const fs::path& input : inputs) {
        std::error_code error;
        if (!fs::is_directory(input, error)) {
            add_look(looks, input);
            continue;
        }
        for (fs::directory_iterator entry{input, error}, end; !error && entry != end; entry.increment(error))
            add_look(looks, entry->path());
    }
    return looks;
}

/// Returns when the inputs look otherwise than `before`, and the same for the length of a pause: a file that is still being written is
/// not read yet.
void wait_for_change(const std::vector<fs::path>& inputs, const Looks& before) {
    Looks last = before;
    for (;;) {
        std::this_thread::sleep_for(pause);
        Looks now = look_at(inputs);
        if (now == last && now != before) return;
        last = std::move(now);
    }
}

}  // namespace

int watch(const std::vector<fs::path>& inputs, const std::function<int()>& once) {
    const bool clears = output_terminal().is_terminal;
    for (;;) {
        const Looks before = look_at(inputs);  // before it is read, so that no change is missed
        if (clears) Output::standard().write("\033[H\033[2J\033[3J");
        int status = exit_failed;
        try {
            status = once();
        } catch (const Error& error) {
            show(error.diagnostics());
        }
        if ((status != exit_ok && status != exit_failed) || !Output::standard().flush()) return status;
        tell("watching for changes; Ctrl-C ends\n");
        wait_for_change(inputs, before);
    }
}

}  // namespace adpipe::cli
