#pragma once

#include "event.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adpipe::kineto {

/// Where a value stood in an event that was read key by key, and where it went.
struct ReadValue {
    enum class Kind : std::uint8_t { number, text, scalar, raw, skipped, rest };
    Kind kind;
    std::uint8_t target;  ///< a Number, Text or Scalar
    const char* begin;
    const char* end;
};

/// A profiler writes all events of a kind alike: the same keys in the same order with the same blanks between them. A layout is
/// what one event had between its values. An event that has the same there is read by comparing instead of by parsing; it gives the
/// same values, since they are read by the same functions, and everything else about it is equal byte by byte.
class EventLayout {
public:
    /// Learns from the event in [begin, end), its values as they were read.
    EventLayout(const char* begin, const char* end, const std::vector<ReadValue>& values, const Event& event, bool skips_rest);

    /// Reads the event at the cursor. nullptr if its layout is another or it is not whole: the cursor has not moved then. The event
    /// is valid until the next call.
    const Event* read(Cursor& c, PythonEvents python);
    bool operator==(const EventLayout& other) const { return literals_ == other.literals_; }

private:
    struct Slot {
        std::uint32_t literal_size;  ///< of what stands before the value
        ReadValue::Kind kind;
        std::uint8_t target;
    };
    std::string literals_;  ///< one behind the other, and some bytes that can be loaded
    std::vector<Slot> slots_;
    std::uint32_t tail_size_ = 0;
    Event event_;  ///< the last one read; what has no slot in this layout keeps the value of the first
    Category category_;
    bool skips_rest_;  ///< the event is of no use: behind the tail only its end is looked for
};

/// The layouts of a file, and which of them tends to follow which.
class LayoutCache {
public:
    const Event* read(Cursor& c, PythonEvents python);
    bool full() const noexcept { return entries_.size() >= most; }
    void learn(EventLayout layout);

private:
    static constexpr std::size_t most = 48;
    struct Entry {
        EventLayout layout;
        std::size_t next;  ///< what followed it last time
    };
    std::vector<Entry> entries_;
    std::size_t last_ = 0;
};

}  // namespace adpipe::kineto
