#include "event_layout.hpp"

#include <cstring>
#include <utility>

namespace adpipe::kineto {

namespace {

constexpr std::size_t literal_padding = 16;

/// Do the texts begin with the same `size` bytes? Some bytes behind both can be loaded.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
#if defined(__SSE2__)
    for (; size >= 16; a += 16, b += 16, size -= 16) {
        if (detail::mask16(_mm_cmpeq_epi8(detail::load16(a), detail::load16(b))) != 0xffff) return false;
    }
    const std::uint32_t wanted = (1U << size) - 1;
    return (detail::mask16(_mm_cmpeq_epi8(detail::load16(a), detail::load16(b))) & wanted) == wanted;
#else
    return std::memcmp(a, b, size) == 0;
#endif
}

inline Scan read_value(Cursor& c, ReadValue::Kind kind, std::uint8_t target, Event& event) {
    switch (kind) {
        case ReadValue::Kind::number: event.numbers[target] = -1; return scan_integer(c, event.numbers[target]);
        case ReadValue::Kind::text: return *c.at == '"' ? scan_text(c, event.texts[target]) : Scan::bad;
        case ReadValue::Kind::scalar: return scan_scalar(c, event.scalars[target]);
        case ReadValue::Kind::raw: return scan_raw(c, event.texts[target]);
        case ReadValue::Kind::skipped: return skip_value(c);
        case ReadValue::Kind::rest: return skip_brackets(c);
    }
    return Scan::bad;
}

}  // namespace

EventLayout::EventLayout(const char* begin, const char* end, const std::vector<ReadValue>& values, const Event& event, bool skips_rest)
    : event_(event), category_(event.category), skips_rest_(skips_rest) {
    const char* p = begin;
    for (const ReadValue& value : values) {
        slots_.push_back({static_cast<std::uint32_t>(value.begin - p), value.kind, value.target});
        literals_.append(p, value.begin);
        p = value.end;
    }
    tail_size_ = static_cast<std::uint32_t>(end - p);
    literals_.append(p, end);
    literals_.append(literal_padding, '\0');
}

const Event* EventLayout::read(Cursor& c, PythonEvents python) {
    Cursor cursor = c;
    const char* literal = literals_.data();
    for (const Slot& slot : slots_) {
        if (!same_bytes(cursor.at, literal, slot.literal_size)) return nullptr;
        cursor.at += slot.literal_size;
        literal += slot.literal_size;
        if (read_value(cursor, slot.kind, slot.target, event_) != Scan::ok) return nullptr;
    }
    if (!same_bytes(cursor.at, literal, tail_size_)) return nullptr;
    cursor.at += tail_size_;
    // What is kept may depend on the name, and is decided anew for each event.
    event_.category = category_;
    const bool kept = is_kept(event_, python);
    if (skips_rest_ && (kept || skip_brackets(cursor) != Scan::ok)) return nullptr;
    if (!kept) event_.category = Category::other;
    c.at = cursor.at;
    return &event_;
}

const Event* LayoutCache::read(Cursor& c, PythonEvents python) {
    if (entries_.empty()) return nullptr;
    std::size_t& expected = entries_[last_].next;
    if (const Event* const event = entries_[expected].layout.read(c, python)) {
        last_ = expected;
        return event;
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (i == expected) continue;
        if (const Event* const event = entries_[i].layout.read(c, python)) {
            expected = last_ = i;
            return event;
        }
    }
    return nullptr;
}

void LayoutCache::learn(EventLayout layout) {
    if (full()) return;
    for (const Entry& entry : entries_) {
        if (entry.layout == layout) return;
    }
    entries_.push_back({std::move(layout), 0});
    if (entries_.size() > 1) entries_[last_].next = entries_.size() - 1;
    last_ = entries_.size() - 1;
}

}  // namespace adpipe::kineto
