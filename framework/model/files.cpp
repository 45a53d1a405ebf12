#include <adpipe/diagnostic.hpp>
#include <adpipe/files.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

namespace adpipe {

namespace {

[[noreturn]] void fail(std::string code, const std::string& what, const std::filesystem::path& path, int error, std::string hint = {}) {
    throw Error(std::move(code), what + " " + path.string() + ": " + std::generic_category().message(error), std::move(hint));
}

class FileDescriptor {
public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return fd_; }
    int close() {
        const int result = ::close(fd_);
        fd_ = -1;
        return result;
    }

private:
    int fd_;
};

/// Removes the temporary file unless it was renamed.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    ~TemporaryFile() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    void keep() { path_.clear(); }

private:
    std::string path_;
};

/// While it lives, a signal that would end the program waits: nothing half-written is left behind.
class EndingSignalsWait {
public:
    EndingSignalsWait() {
        sigset_t ending;
        ::sigemptyset(&ending);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, signal);
        ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
    }
    ~EndingSignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    EndingSignalsWait(const EndingSignalsWait&) = delete;
    EndingSignalsWait& operator=(const EndingSignalsWait&) = delete;

private:
    sigset_t before_{};
};

int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
    // Not blocking: to open a pipe that nobody writes to would wait for ever.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) fail("ADP-IO-001", "cannot open", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) fail("ADP-IO-001", "cannot open", path, errno);
    if (S_ISDIR(status.st_mode)) fail("ADP-IO-002", "cannot read", path, EISDIR, "name a file in this directory");
    if (!S_ISREG(status.st_mode)) throw Error("ADP-IO-003", "cannot read " + path.string() + ": not a regular file");

    const std::shared_ptr<MappedFile> mapped(new MappedFile());
    mapped->path_ = path;
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return mapped;
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
    if (data == MAP_FAILED) fail("ADP-IO-001", "cannot map", path, errno);
    mapped->text_ = {static_cast<const char*>(data), size};
    return mapped;
}

MappedFile::~MappedFile() {
    if (!text_.empty()) ::munmap(const_cast<char*>(text_.data()), text_.size());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
    const EndingSignalsWait signals_wait;
    std::string temporary = path.string() + ".XXXXXX";
    FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) fail("ADP-IO-004", "cannot write", path, errno);
    TemporaryFile guard(temporary);
    if (const int error = write_all(file.get(), content)) fail("ADP-IO-004", "cannot write", path, error);
    // mkostemp makes a private file; a result is as public as the user's umask lets any other file be.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file.get(), 0666 & ~mask) != 0) fail("ADP-IO-004", "cannot write", path, errno);
    if (file.close() != 0) fail("ADP-IO-004", "cannot write", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("ADP-IO-004", "cannot write", path, errno);
    guard.keep();
}

bool looks_like_layer_json(std::string_view beginning) noexcept {
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || beginning[first] != '{') return false;
    const auto has = [&](std::string_view key) { return beginning.find(key) != std::string_view::npos; };
    if (has("\"traceEvents\"") || has("\"ph\"")) return false;
    // One key alone says little, and a long list may push the others out of sight.
    const bool nodes = has("\"nodes\"") && (has("\"edges\"") || (has("\"op\"") && has("\"group\"")));
    const bool edges = has("\"edges\"") && has("\"from\"") && has("\"to\"");
    return nodes || edges || (has("\"layer\"") && has("\"source_file\""));
}

}  // namespace adpipe
