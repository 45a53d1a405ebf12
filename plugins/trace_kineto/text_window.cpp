#include "text_window.hpp"

#include <cstring>
#include <utility>

namespace adpipe::kineto {

static_assert(Cursor::padding <= Chunk::padding);

bool TextWindow::refill(const char* keep) {
    std::unique_ptr<Chunk> chunk = stream_.next();
    if (!chunk) {
        at_end_ = true;
        return false;
    }
    end_offset_ += chunk->size;
    const auto kept = static_cast<std::size_t>(cursor.end - keep);
    if (kept > Chunk::headroom) {
        merge(keep, kept, std::move(chunk));
        return true;
    }
    char* const begin = chunk->text() - kept;
    if (kept > 0) std::memcpy(begin, keep, kept);
    cursor.at = begin;
    cursor.end = chunk->text() + chunk->size;
    if (chunk_) stream_.recycle(std::move(chunk_));
    chunk_ = std::move(chunk);
    merged_ = {};
    return true;
}

/// Something larger than the headroom is being read: as much more as is there already, so that the cost of starting over with it
/// stays proportional to its size.
void TextWindow::merge(const char* keep, std::size_t kept, std::unique_ptr<Chunk> chunk) {
    std::vector<char> text;
    text.reserve(2 * kept + chunk->size + Cursor::padding);
    text.assign(keep, keep + kept);
    for (;;) {
        text.insert(text.end(), chunk->text(), chunk->text() + chunk->size);
        stream_.recycle(std::move(chunk));
        if (text.size() >= 2 * kept || !(chunk = stream_.next())) break;
        end_offset_ += chunk->size;
    }
    const std::size_t size = text.size();
    text.resize(size + Cursor::padding, '\0');
    merged_ = std::move(text);
    if (chunk_) stream_.recycle(std::move(chunk_));
    cursor.at = merged_.data();
    cursor.end = merged_.data() + size;
}

}  // namespace adpipe::kineto
