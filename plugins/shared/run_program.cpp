#include "run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

extern char** environ;

namespace adpipe::shared {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_errors = 2000;

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    int get() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

struct Pair {
    Descriptor ours;
    Descriptor theirs;
};

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// A socket pair, not a pipe: writing to a child that is gone then gives an error, not a signal.
Pair connection() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) throw_errno("socketpair");
    Pair pair{Descriptor{fds[0]}, Descriptor{fds[1]}};
    if (::fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl");
    return pair;
}

/// A child in a process group of its own, with all signals as usual. Killed and reaped at the latest by the destructor.
class Child {
public:
    Child(const std::string& program, const std::vector<std::string>& arguments, int in, int out, int err) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        std::vector<char*> argv{const_cast<char*>(program.c_str())};
        for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        error_ = ::posix_spawnp(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    ~Child() {
        if (running()) kill();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    int spawn_error() const { return error_; }
    bool running() const { return error_ == 0 && !reaped_; }
    /// True once the child has ended; its status is known then.
    bool ended() {
        if (!reaped_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
        return reaped_;
    }
    void kill() {
        ::kill(-pid_, SIGKILL);
        while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {}
        reaped_ = true;
    }
    int status() const { return status_; }

private:
    pid_t pid_ = -1;
    int error_ = 0;
    int status_ = 0;
    bool reaped_ = false;
};

std::string status_text(int status) {
    if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

/// Reads what is there; closes the descriptor at its end.
void drain(Descriptor& from, std::string& into) {
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
        if (count > 0) {
            into.append(buffer.data(), static_cast<std::size_t>(count));
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        from.close();
        return;
    }
}

void feed(Descriptor& to, std::string_view& input) {
    const ssize_t count = ::send(to.get(), input.data(), input.size(), MSG_NOSIGNAL);
    if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
    const bool gone = count < 0 && errno != EAGAIN && errno != EINTR;
    if (gone || input.empty()) to.close();
}

struct Streams {
    Pair in;
    Pair out;
    Pair err;
};

/// Waits a moment for any of the streams, and serves those that are ready.
void serve(Streams& streams, std::string_view& input, ProgramRun& run, int wait_ms) {
    std::array<pollfd, 3> fds{
        {{streams.in.ours.get(), POLLOUT, 0}, {streams.out.ours.get(), POLLIN, 0}, {streams.err.ours.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), wait_ms) <= 0) return;
    if (streams.in.ours.is_open() && fds[0].revents != 0) feed(streams.in.ours, input);
    if (streams.out.ours.is_open() && fds[1].revents != 0) drain(streams.out.ours, run.output);
    if (streams.err.ours.is_open() && fds[2].revents != 0) drain(streams.err.ours, run.errors);
}

}  // namespace

ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments, std::string_view input,
                       std::chrono::milliseconds limit, const std::function<bool()>& stop_requested) {
    ProgramRun run;
    Streams streams{connection(), connection(), connection()};
    Child child(program, arguments, streams.in.theirs.get(), streams.out.theirs.get(), streams.err.theirs.get());
    streams.in.theirs.close();
    streams.out.theirs.close();
    streams.err.theirs.close();
    if (child.spawn_error() != 0) {
        run.result = child.spawn_error() == ENOENT ? ProgramRun::Result::not_found : ProgramRun::Result::failed;
        run.status = std::strerror(child.spawn_error());
        return run;
    }
    if (input.empty()) streams.in.ours.close();
    const auto deadline = Clock::now() + limit;
    while (streams.out.ours.is_open() || streams.err.ours.is_open() || !child.ended()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0 || stop_requested()) {
            run.result = left.count() <= 0 ? ProgramRun::Result::timed_out : ProgramRun::Result::stopped;
            child.kill();
            return run;
        }
        // A short wait once the output has ended: then only the child's end is waited for, and poll does not see that.
        const bool output_ended = !streams.out.ours.is_open() && !streams.err.ours.is_open();
        serve(streams, input, run, output_ended ? 1 : static_cast<int>(std::min<long long>(100, left.count())));
    }
    run.errors.resize(std::min(run.errors.size(), longest_errors));
    run.status = status_text(child.status());
    if (!WIFEXITED(child.status()) || WEXITSTATUS(child.status()) != 0) run.result = ProgramRun::Result::failed;
    return run;
}

}  // namespace adpipe::shared
