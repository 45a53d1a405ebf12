#include "read_ahead.hpp"

namespace adpipe::kineto {

namespace {

bool is_space(char ch) { return ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t'; }

}  // namespace

const char* find_event(const char* from, const char* end) {
    char last = 0;  // the last two bytes before `p` that are not blank
    char last_but_1 = 0;
    for (const char* p = from; p < end; ++p) {
        if (is_space(*p)) continue;
        if (*p == '{' && last == ',' && last_but_1 == '}') {
            const char* after = p + 1;
            while (after < end && is_space(*after)) ++after;
            if (after < end && *after == '"') return p;
        }
        last_but_1 = last;
        last = *p;
    }
    return nullptr;
}

void AheadReader::read(const char* text, const char* end, EventsAhead& ahead) {
    Cursor cursor{find_event(text, end), end};
    if (cursor.at == nullptr) return;
    ahead.begin = ahead.end = cursor.at;
    const Event* event = nullptr;
    while (cursor.at < end && *cursor.at == '{' && parser_.parse(cursor, event) == Scan::ok) {
        ++ahead.count;
        if (event->phase != 0) ++ahead.with_phase;
        const bool only_counts = event->category == Category::other && event->phase != 'B' && event->phase != 'E';
        if (!only_counts) ahead.events.push_back(*event);
        ahead.end = cursor.at;
        while (cursor.at < end && (is_space(*cursor.at) || *cursor.at == ',')) ++cursor.at;
    }
}

}  // namespace adpipe::kineto
