#pragma once

#include "read_ahead.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace adpipe::kineto {

/// A piece of the decompressed text. Before it lies room for the unread rest of the piece before, after it zero bytes, so that a
/// reader sees an event whole and may load a little beyond the end.
struct Chunk {
    static constexpr std::size_t headroom = 32 * 1024;
    static constexpr std::size_t padding = 64;

    explicit Chunk(std::size_t capacity) : memory(new char[headroom + capacity + padding]) {}
    std::unique_ptr<char[]> memory;
    std::size_t size = 0;
    EventsAhead ahead;  ///< of its text

    char* text() noexcept { return memory.get() + headroom; }
};

/// How the text of a file ended.
enum class StreamEnd : std::uint8_t {
    complete,
    cut_gzip,        ///< the compressed file stops before its end mark
    damaged_gzip,    ///< not decodable from some byte on
    wrong_checksum,  ///< decoded to the end, but the text is not what was compressed
    trailing_bytes,  ///< something that is no gzip follows the last gzip member
    read_error,
};

/// The text of a plain or gzip file (of any number of members), read and inflated by a thread of its own, a few chunks ahead of
/// the reader. Where it is far enough ahead, it does a part of the reader's work. Memory: at most `max_chunks` chunks, however large the file.
class ChunkStream {
public:
    static constexpr std::size_t usual_chunk_size = 256 * 1024;

    using ReadAhead = std::function<void(Chunk&)>;

    /// `read_ahead` is called in the stream's thread with chunks that the reader will not want at once; it must not throw, but for std::bad_alloc.
    /// Throws Error (ADP-IO-…) if the file cannot be opened.
    explicit ChunkStream(const std::filesystem::path& path, std::size_t chunk_size = usual_chunk_size, ReadAhead read_ahead = {});
    ~ChunkStream();
    ChunkStream(const ChunkStream&) = delete;
    ChunkStream& operator=(const ChunkStream&) = delete;

    /// The next piece, or nullptr at the end of the text. The caller gives it back with `recycle`.
    std::unique_ptr<Chunk> next();
    void recycle(std::unique_ptr<Chunk> chunk);

    /// How the text ended; valid once `next` has returned nullptr.
    StreamEnd end() const noexcept { return end_; }
    /// Bytes of the file as it lies on disk that were read when the text ended.
    std::uint64_t bytes_read() const noexcept { return bytes_read_; }
    std::uint64_t file_size() const noexcept { return file_size_; }
    /// Share of the file that the producer has read, from 0 to 1. An estimate: the reader is some chunks behind.
    double progress() const;
    int read_errno() const noexcept { return read_errno_; }

private:
    static constexpr std::size_t max_chunks = 16;
    static constexpr std::size_t far_ahead = 4;  ///< chunks

    void produce();
    void produce_plain();
    void produce_gzip();
    bool fill_input();
    std::unique_ptr<Chunk> free_chunk();
    bool deliver(std::unique_ptr<Chunk> chunk);
    void finish(StreamEnd end);

    std::size_t chunk_size_;
    ReadAhead read_ahead_;
    int file_ = -1;
    std::uint64_t file_size_ = 0;
    std::vector<unsigned char> input_;  ///< of the producer: bytes as they lie on disk
    std::size_t input_size_ = 0;
    bool input_failed_ = false;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Chunk>> ready_;
    std::vector<std::unique_ptr<Chunk>> free_;
    std::size_t made_ = 0;
    bool finished_ = false;
    bool abandoned_ = false;
    StreamEnd end_ = StreamEnd::complete;
    std::uint64_t bytes_read_ = 0;
    int read_errno_ = 0;

    std::thread producer_;
};

}  // namespace adpipe::kineto
