#include "kineto_reader.hpp"

#include "event_parser.hpp"
#include "header.hpp"
#include "read_ahead.hpp"
#include "report.hpp"
#include "text_window.hpp"
#include "trace_builder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace adpipe::kineto {

namespace {

/// An event that is larger than this is not read: no profiler writes one, and memory must not depend on the file.
constexpr std::size_t largest_unit = 16 * 1024 * 1024;

bool is_blank(char ch) { return ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t'; }

/// Foretells how many GPU events a file holds, from how fast they come once the first of them have been read.
class RowForecast {
public:
    /// Rows to make room for, once; 0 while nothing is to be done.
    std::size_t rows(std::size_t rows_so_far, double progress) {
        if (rows_so_far < first_ || done_) return 0;
        if (begin_ == 0) {
            begin_ = rows_so_far;
            begin_progress_ = progress;
        }
        if (rows_so_far < second_ || progress <= begin_progress_) return 0;
        done_ = true;
        const double rate = static_cast<double>(rows_so_far - begin_) / (progress - begin_progress_);
        const double expected = static_cast<double>(rows_so_far) + rate * (1 - progress) * 1.1;
        return static_cast<std::size_t>(std::min(expected, most_));
    }

private:
    static constexpr std::size_t first_ = 10'000;
    static constexpr std::size_t second_ = 60'000;
    static constexpr double most_ = 50e6;
    std::size_t begin_ = 0;
    double begin_progress_ = 0;
    bool done_ = false;
};

/// One pass over a file: the outermost object or array, its members, the events.
class Reader {
public:
    Reader(const std::filesystem::path& file, const ReadOptions& options)
        : file_(file),
          options_(options),
          ahead_(options.python, options.details),
          stream_(file, options.chunk_size, [this](Chunk& chunk) { ahead_.read(chunk.text(), chunk.text() + chunk.size, chunk.ahead); }),
          window_(stream_),
          builder_(trace_),
          parser_(options.python, options.details) {
        trace_.file = file;
        trace_.format = "kineto";
    }
    Trace read();

private:
    template <class Parse>
    Scan unit(const Parse& parse);
    bool refill(const char* keep);
    bool skip_blanks();
    bool skip_separators();
    bool skip_rest(SkipState state);
    bool skip_text();
    void give_up(Scan reason);
    void read_document();
    bool read_member();
    bool skip_member();
    void read_events();
    bool read_event();
    void take(const EventsAhead& ahead);
    bool recover(Scan reason);
    bool resync();
    void check_rest();
    std::size_t left() const { return static_cast<std::size_t>(window_.cursor.end - window_.cursor.at); }

    const std::filesystem::path& file_;
    const ReadOptions& options_;
    Trace trace_;
    AheadReader ahead_;  ///< of the stream's thread
    ChunkStream stream_;
    TextWindow window_;
    Cursor& c_ = window_.cursor;
    TraceBuilder builder_;
    EventParser parser_;
    Header header_;
    Ending ending_;
    RowForecast forecast_;
};

Trace Reader::read() {
    read_document();
    if (!ending_.cut && !ending_.damaged && !ending_.stopped) check_rest();
    builder_.finish();
    if (ending_.stopped) return std::move(trace_);  // a part of the file says nothing of the whole
    if (window_.at_end()) ending_.stream = stream_.end();
    report(header_, builder_.findings(), ending_, trace_);
    return std::move(trace_);
}

bool Reader::refill(const char* keep) {
    if (options_.stop()) ending_.stopped = true;
    if (const std::size_t rows = forecast_.rows(builder_.gpu_rows(), stream_.progress())) builder_.reserve(rows);
    return !ending_.stopped && window_.refill(keep);
}

/// Runs `parse` on the text at the cursor, again with more text for as long as it asks for more. On anything but `ok` the cursor
/// is back where it was.
template <class Parse>
Scan Reader::unit(const Parse& parse) {
    for (;;) {
        Cursor cursor = c_;
        const Scan result = parse(cursor);
        if (result == Scan::ok) c_.at = cursor.at;
        if (result != Scan::more || left() > largest_unit || !refill(c_.at)) return result;
    }
}

/// Moves to the next byte that is not blank; false at the end of the text.
bool Reader::skip_blanks() {
    for (;;) {
        while (c_.at < c_.end && is_blank(*c_.at)) ++c_.at;
        if (c_.at < c_.end) return true;
        if (!refill(c_.end)) return false;
    }
}

/// The same past commas. Zero bytes inside the document are taken as blank too.
bool Reader::skip_separators() {
    for (;;) {
        while (c_.at < c_.end && (static_cast<unsigned char>(*c_.at) <= ' ' || *c_.at == ',')) ++c_.at;
        if (c_.at < c_.end) return true;
        if (!refill(c_.end)) return false;
    }
}

/// Goes on skipping to the bracket that closes the open ones, through any amount of text.
bool Reader::skip_rest(SkipState state) {
    while (skip_brackets(c_, state) == Scan::more) {
        if (!refill(c_.end)) return false;
    }
    return true;
}

/// Skips a string of any length; the cursor stands behind its opening quote.
bool Reader::skip_text() {
    bool escaped = false;
    while (skip_text_rest(c_, escaped) == Scan::more) {
        if (!refill(c_.end)) return false;
    }
    return true;
}

/// Notes that nothing behind the cursor can be read.
void Reader::give_up(Scan reason) {
    if (ending_.stopped) return;
    (reason == Scan::bad || left() > largest_unit ? ending_.damaged : ending_.cut) = true;
    ending_.offset = window_.offset_of(c_.at);
}

void Reader::read_document() {
    bool has_text = refill(c_.at);
    if (has_text && std::string_view(c_.at, left()).substr(0, 3) == "\xef\xbb\xbf") c_.at += 3;
    has_text = has_text && skip_blanks();
    if (ending_.stopped) return;
    if (!has_text) throw_unreadable(file_, stream_);
    if (*c_.at == '[') {
        ++c_.at;
        read_events();
    } else if (*c_.at == '{') {
        ++c_.at;
        while (read_member()) {}
    } else {
        throw_foreign(file_, {c_.at, left()});
    }
}

/// One member of the outermost object; false behind the last or where nothing more can be read.
bool Reader::read_member() {
    RawText raw_key;
    bool done = false;
    Scan result = skip_separators() ? Scan::ok : Scan::more;
    if (result == Scan::ok) result = unit([&](Cursor& cursor) { return next_key(cursor, raw_key, done); });
    if (result != Scan::ok) {
        give_up(result);
        return false;
    }
    if (done) return false;
    const std::string key = decode_text(raw_key);
    if (header_.keys.size() < 8) header_.keys.push_back(key);
    if (key == "traceEvents" && *c_.at == '[') {
        ++c_.at;
        read_events();
        return !ending_.cut && !ending_.damaged;
    }
    if (is_header_key(key)) {
        const Scan known = unit([&](Cursor& cursor) { return read_header_member(key, cursor, header_); });
        if (known == Scan::ok) return true;
    }
    return skip_member();
}

/// Skips a value of any length; false if it does not end.
bool Reader::skip_member() {
    Scan result = Scan::more;
    if (*c_.at == '"') {
        ++c_.at;
        if (skip_text()) return true;
    } else if (*c_.at == '{' || *c_.at == '[') {
        ++c_.at;
        if (skip_rest({})) return true;
    } else {
        result = unit([](Cursor& cursor) { return skip_value(cursor); });
        if (result == Scan::ok) return true;
    }
    give_up(result);
    return false;
}

void Reader::read_events() {
    header_.has_events = true;
    while (read_event()) {}
}

/// One element of the list of events; false behind the last or where nothing more can be read.
bool Reader::read_event() {
    if (!skip_separators()) {
        give_up(Scan::more);
        return false;
    }
    if (*c_.at == ']') {
        ++c_.at;
        return false;
    }
    if (const EventsAhead* const ahead = window_.events_ahead()) {
        take(*ahead);
        return true;
    }
    static const Event no_event;
    const Event* event = &no_event;
    Scan result = Scan::ok;
    if (*c_.at == '{') {
        result = unit([&](Cursor& cursor) { return parser_.parse(cursor, event); });
    } else {
        result = unit([](Cursor& cursor) { return skip_value(cursor); });
    }
    if (result != Scan::ok) return recover(result);
    ++builder_.findings().events;
    if (event->phase != 0) ++builder_.findings().with_phase;
    builder_.add(*event);
    return true;
}

/// The cursor stands where these were read.
void Reader::take(const EventsAhead& ahead) {
    builder_.findings().events += ahead.count;
    builder_.findings().with_phase += ahead.with_phase;
    for (const Event& event : ahead.events) builder_.add(event);
    c_.at = ahead.end;
}

/// Behind an event that cannot be read: is there another?
bool Reader::recover(Scan reason) {
    if (reason == Scan::more && left() > largest_unit) {
        ++ending_.oversized_events;
        ++c_.at;
        if (skip_rest({})) return true;
    } else if (reason == Scan::bad) {
        if (ending_.damaged_events++ == 0) ending_.damaged_offset = window_.offset_of(c_.at);
        if (resync()) return true;
        give_up(Scan::bad);
        return false;
    }
    give_up(Scan::more);
    return false;
}

/// Moves to the next event after a damaged one; false if the text holds none.
bool Reader::resync() {
    ++c_.at;
    for (;;) {
        if (const char* const found = find_event(c_.at, c_.end)) {
            c_.at = found;
            return true;
        }
        constexpr std::ptrdiff_t border = 256;  // what begins at the end of the window is found in the next
        if (!refill(c_.end - c_.at > border ? c_.end - border : c_.at)) return false;
    }
}

/// What stands behind the end of the document.
void Reader::check_rest() {
    if (!skip_blanks()) return;
    ending_.rest = true;
    ending_.offset = window_.offset_of(c_.at);
}

}  // namespace

Trace read_trace(const std::filesystem::path& file, const ReadOptions& options) { return Reader(file, options).read(); }

}  // namespace adpipe::kineto
