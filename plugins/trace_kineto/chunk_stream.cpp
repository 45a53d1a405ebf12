#include "chunk_stream.hpp"

#include <adpipe/diagnostic.hpp>

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace adpipe::kineto {

namespace {

constexpr std::size_t input_capacity = 256 * 1024;

int open_regular_file(const std::filesystem::path& path, std::uint64_t& size) {
    // O_NONBLOCK: opening a pipe that nobody writes to must not hang; it changes nothing for a regular file.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) {
        const int error = errno;
        if (file >= 0) ::close(file);
        throw Error("ADP-IO-001", "cannot open " + path.string() + ": " + std::generic_category().message(error));
    }
    if (!S_ISREG(status.st_mode)) {
        ::close(file);
        if (S_ISDIR(status.st_mode)) {
            throw Error("ADP-IO-002", "cannot read " + path.string() + ": " + std::generic_category().message(EISDIR),
                        "name a file in this directory");
        }
        throw Error("ADP-IO-003", "cannot read " + path.string() + ": not a regular file");
    }
    size = static_cast<std::uint64_t>(status.st_size);
    return file;
}

/// ISA-L's state, and what it says of members and their ends.
class Inflater {
public:
    Inflater() {
        isal_inflate_init(&state_);
        state_.crc_flag = ISAL_GZIP;
    }
    /// Input; none means that the file is over.
    void give(unsigned char* bytes, std::size_t size) {
        state_.next_in = bytes;
        state_.avail_in = static_cast<std::uint32_t>(size);
        input_is_over_ = size == 0;
    }
    void take(char* room, std::size_t size) {
        state_.next_out = reinterpret_cast<std::uint8_t*>(room);
        state_.avail_out = static_cast<std::uint32_t>(size);
    }
    std::size_t room() const { return state_.avail_out; }
    bool wants_input() const { return state_.avail_in == 0; }
    bool input_is_over() const { return input_is_over_; }

    /// Inflates what it can; how the text ends, once it does.
    std::optional<StreamEnd> step() {
        if (state_.block_state == ISAL_BLOCK_FINISH) {
            // Zero bytes may pad a file; another member goes on with the text.
            while (state_.avail_in > 0 && *state_.next_in == 0) ++state_.next_in, --state_.avail_in;
            if (state_.avail_in == 0) return input_is_over_ ? std::optional(StreamEnd::complete) : std::nullopt;
            if (*state_.next_in != 0x1f) return StreamEnd::trailing_bytes;
            isal_inflate_reset(&state_);
            state_.crc_flag = ISAL_GZIP;
        }
        const std::uint32_t room_before = state_.avail_out;
        const bool no_input = state_.avail_in == 0;
        const int result = isal_inflate(&state_);
        if (result == ISAL_INCORRECT_CHECKSUM) return StreamEnd::wrong_checksum;
        if (result < 0) return StreamEnd::damaged_gzip;
        const bool stuck = no_input && state_.avail_out == room_before && state_.block_state != ISAL_BLOCK_FINISH;
        return stuck && input_is_over_ ? std::optional(StreamEnd::cut_gzip) : std::nullopt;
    }

private:
    inflate_state state_;
    bool input_is_over_ = false;
};

bool starts_gzip(const unsigned char* bytes, std::size_t size) { return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

}  // namespace

ChunkStream::ChunkStream(const std::filesystem::path& path, std::size_t chunk_size, ReadAhead read_ahead)
    : chunk_size_(chunk_size), read_ahead_(std::move(read_ahead)), input_(input_capacity) {
    file_ = open_regular_file(path, file_size_);
    producer_ = std::thread([this] { produce(); });
}

ChunkStream::~ChunkStream() {
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
    }
    changed_.notify_all();
    producer_.join();
    ::close(file_);
}

std::unique_ptr<Chunk> ChunkStream::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || finished_; });
    if (ready_.empty()) return nullptr;
    std::unique_ptr<Chunk> chunk = std::move(ready_.front());
    ready_.pop_front();
    return chunk;
}

void ChunkStream::recycle(std::unique_ptr<Chunk> chunk) {
    bool many = false;
    {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(chunk));
        many = free_.size() >= max_chunks / 2;
    }
    // A thread that is woken for each chunk costs more than the wait. At the latest when nothing is ready any more, half of all are free.
    if (many) changed_.notify_all();
}

double ChunkStream::progress() const {
    const std::lock_guard lock(mutex_);
    return file_size_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(bytes_read_) / static_cast<double>(file_size_));
}

std::unique_ptr<Chunk> ChunkStream::free_chunk() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return abandoned_ || !free_.empty() || made_ < max_chunks; });
    if (abandoned_) return nullptr;
    if (free_.empty()) {
        ++made_;
        lock.unlock();
        return std::make_unique<Chunk>(chunk_size_);
    }
    std::unique_ptr<Chunk> chunk = std::move(free_.back());
    free_.pop_back();
    chunk->ahead.clear();
    return chunk;
}

bool ChunkStream::deliver(std::unique_ptr<Chunk> chunk) {
    if (chunk->size == 0) return true;
    std::memset(chunk->text() + chunk->size, 0, Chunk::padding);
    bool is_far_ahead = false;
    {
        const std::lock_guard lock(mutex_);
        is_far_ahead = ready_.size() >= far_ahead;
    }
    if (is_far_ahead && read_ahead_) read_ahead_(*chunk);
    {
        const std::lock_guard lock(mutex_);
        if (abandoned_) return false;
        ready_.push_back(std::move(chunk));
    }
    changed_.notify_all();
    return true;
}

void ChunkStream::finish(StreamEnd end) {
    {
        const std::lock_guard lock(mutex_);
        end_ = input_failed_ ? StreamEnd::read_error : end;
        finished_ = true;
    }
    changed_.notify_all();
}

/// Reads the next bytes of the file into `input_`; false at its end or if it cannot be read.
bool ChunkStream::fill_input() {
    input_size_ = 0;
    while (input_size_ < input_.size()) {
        const ssize_t got = ::read(file_, input_.data() + input_size_, input_.size() - input_size_);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            read_errno_ = errno;
            input_failed_ = true;
        }
        if (got <= 0) break;
        input_size_ += static_cast<std::size_t>(got);
    }
    const std::lock_guard lock(mutex_);
    bytes_read_ += input_size_;
    return input_size_ > 0;
}

void ChunkStream::produce() {
    try {
        if (!fill_input()) {
            finish(StreamEnd::complete);
        } else if (starts_gzip(input_.data(), input_size_)) {
            produce_gzip();
        } else {
            produce_plain();
        }
    } catch (const std::bad_alloc&) {
        read_errno_ = ENOMEM;
        finish(StreamEnd::read_error);
    }
}

void ChunkStream::produce_plain() {
    do {
        for (std::size_t done = 0; done < input_size_;) {
            std::unique_ptr<Chunk> chunk = free_chunk();
            if (!chunk) return;
            chunk->size = std::min(chunk_size_, input_size_ - done);
            std::memcpy(chunk->text(), input_.data() + done, chunk->size);
            done += chunk->size;
            if (!deliver(std::move(chunk))) return;
        }
    } while (fill_input());
    finish(StreamEnd::complete);
}

void ChunkStream::produce_gzip() {
    Inflater inflater;
    inflater.give(input_.data(), input_size_);
    for (std::optional<StreamEnd> end; !end;) {
        std::unique_ptr<Chunk> chunk = free_chunk();
        if (!chunk) return;
        inflater.take(chunk->text(), chunk_size_);
        while (!end && inflater.room() > 0) {
            if (inflater.wants_input() && !inflater.input_is_over()) {
                fill_input();
                inflater.give(input_.data(), input_size_);
            }
            end = inflater.step();
        }
        chunk->size = chunk_size_ - inflater.room();
        if (!deliver(std::move(chunk))) return;
        if (end) finish(*end);
    }
}

}  // namespace adpipe::kineto
