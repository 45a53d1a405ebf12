#pragma once

#include "event.hpp"
#include "event_parser.hpp"

#include <cstddef>
#include <vector>

namespace adpipe::kineto {

/// Events that stand behind each other in a piece of the text, read before it was known that an event begins there: from a place that only
/// looks like the beginning of one. They are what the reader would read itself if it comes to stand on that very place, and of no use otherwise.
struct EventsAhead {
    const char* begin = nullptr;  ///< of the first one
    const char* end = nullptr;    ///< behind the last one
    std::size_t count = 0;
    std::size_t with_phase = 0;
    std::vector<Event> events;  ///< those of them that are more than a number to count

    void clear() noexcept {
        begin = end = nullptr;
        count = with_phase = 0;
        events.clear();
    }
};

/// Where in [from, end) the next event seems to begin: at the last brace of `}, {"`. nullptr if nowhere.
const char* find_event(const char* from, const char* end);

/// Reads events ahead, in a thread other than the reader's, with layouts of its own.
class AheadReader {
public:
    AheadReader(PythonEvents python, bool details) : parser_(python, details) {}

    /// Reads what is whole in [text, end), behind which there is padding as a Cursor wants it. Texts of the events point into it.
    void read(const char* text, const char* end, EventsAhead& ahead);

private:
    EventParser parser_;
};

}  // namespace adpipe::kineto
