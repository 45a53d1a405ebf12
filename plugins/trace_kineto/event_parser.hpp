#pragma once

#include "event.hpp"
#include "event_layout.hpp"

#include <vector>

namespace adpipe::kineto {

/// Reads events, the first of each layout key by key and those like it by comparison.
class EventParser {
public:
    explicit EventParser(PythonEvents python, bool details = false) : python_(python), details_(details) {}

    /// Reads one event; the cursor stands on its opening brace. An event that will not be kept is skipped as soon as that is known
    /// and has the category `other`. If the result is `ok`, `event` is valid until the next call.
    Scan parse(Cursor& c, const Event*& event);

private:
    PythonEvents python_;
    bool details_;  ///< shapes, types and call stacks of operators are read
    LayoutCache layouts_;
    Event event_;
    std::vector<ReadValue> values_;
};

}  // namespace adpipe::kineto
