#pragma once

#include "chunk_stream.hpp"
#include "json_scan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace adpipe::kineto {

/// The text of a ChunkStream as one contiguous window that moves along: what is being read lies in it whole, whatever the borders
/// of the chunks. Normally nothing is copied but the part of an event that a border cuts off.
class TextWindow {
public:
    explicit TextWindow(ChunkStream& stream) : stream_(stream) { cursor.at = cursor.end = none_; }

    /// The unread text. Read on by moving `cursor.at`.
    Cursor cursor;

    /// Puts more text behind the window and drops what lies before `keep`. `cursor.at` then stands on the byte that `keep` pointed
    /// at; every other pointer into the window is invalid. False at the end of the text, and nothing has changed.
    bool refill(const char* keep);
    bool at_end() const noexcept { return at_end_; }
    /// Events that were read ahead from where the cursor stands, or nullptr. Valid until the next refill.
    const EventsAhead* events_ahead() const noexcept {
        return chunk_ && chunk_->ahead.count > 0 && chunk_->ahead.begin == cursor.at ? &chunk_->ahead : nullptr;
    }

    /// Position in the decompressed text.
    std::uint64_t offset_of(const char* p) const noexcept { return end_offset_ - static_cast<std::uint64_t>(cursor.end - p); }

private:
    void merge(const char* keep, std::size_t kept, std::unique_ptr<Chunk> chunk);

    ChunkStream& stream_;
    std::unique_ptr<Chunk> chunk_;
    std::vector<char> merged_;  ///< in place of chunk_ while what is kept is larger than a chunk's headroom
    std::uint64_t end_offset_ = 0;
    bool at_end_ = false;
    char none_[Cursor::padding] = {};
};

}  // namespace adpipe::kineto
