// The lowest layer of trace.kineto: tokens, numbers, texts, and the window that moves along a file.

#include "event_parser.hpp"
#include "gzip_writer.hpp"
#include "json_scan.hpp"
#include "temporary_file.hpp"
#include "text_window.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>

using namespace adpipe::kineto;

namespace {

/// A text with the padding that a cursor needs.
class Padded {
public:
    explicit Padded(std::string_view text) : size_(text.size()), text_(std::string(text) + std::string(Cursor::padding, '\0')) {}
    Cursor cursor() const { return {text_.data(), text_.data() + size_}; }

private:
    std::size_t size_;
    std::string text_;
};

std::int64_t microseconds(std::string_view text) {
    std::int64_t value = -1;
    REQUIRE(parse_microseconds(text, value));
    return value;
}

std::string decoded(std::string_view raw) { return decode_text({raw.data(), raw.size(), raw.find('\\') != raw.npos}); }

/// Everything that a ChunkStream delivers.
std::string all_text(std::string_view content, std::size_t chunk_size, StreamEnd& end) {
    const TemporaryFile file(content);
    ChunkStream stream(file.path(), chunk_size);
    std::string text;
    while (std::unique_ptr<Chunk> chunk = stream.next()) {
        text.append(chunk->text(), chunk->size);
        stream.recycle(std::move(chunk));
    }
    end = stream.end();
    return text;
}

}  // namespace

TEST_CASE("times come from the digits, not through a double") {
    CHECK(microseconds("7764762801971.451") == 7764762801971451);
    CHECK(microseconds("1623143093496523") == 1623143093496523000);
    CHECK(microseconds("9007199254740.993") == 9007199254740993);  // 2^53 + 1: no double holds it
    CHECK(microseconds("0.001") == 1);
    CHECK(microseconds("2.3") == 2300);
    CHECK(microseconds("-1.5") == -1500);
    CHECK(microseconds("9223372036854775.807") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("more than three decimals are rounded to the nearest nanosecond") {
    CHECK(microseconds("2.3999999999999773") == 2400);
    CHECK(microseconds("0.0004") == 0);
    CHECK(microseconds("0.0005") == 1);
    CHECK(microseconds("-0.0005") == -1);
    CHECK(microseconds("1.9999") == 2000);
}

TEST_CASE("exponents are exact") {
    CHECK(microseconds("1.428625731896179e+15") == 1428625731896179000);
    CHECK(microseconds("1E3") == 1000000);
    CHECK(microseconds("15e-1") == 1500);
    CHECK(microseconds("1e-300") == 0);
}

TEST_CASE("what is no time, or none that fits, is refused") {
    std::int64_t value = 7;
    for (const char* text : {"", "NaN", "Infinity", "-Infinity", "null", "1.2.3", "1e", "--1", "12a", ".", "-", "9223372036854775.808",
                             "1e400", "1e99999999999999999999", "99999999999999999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_microseconds(text, value));
    }
    CHECK(value == 7);
}

TEST_CASE("whole numbers may be written with a fraction of zeros, but are not rounded") {
    std::int64_t value = -1;
    CHECK(parse_integer("7.0", value));
    CHECK(value == 7);
    CHECK(parse_integer("-42", value));
    CHECK(value == -42);
    CHECK_FALSE(parse_integer("7.5", value));
    CHECK_FALSE(parse_integer("9223372036854775808", value));
    CHECK(value == -42);
    std::uint64_t id = 0;
    CHECK(parse_unsigned("18446744073709551615", id));
    CHECK(id == 18446744073709551615U);
    CHECK_FALSE(parse_unsigned("-1", id));
}

TEST_CASE("a number in the text is read alike whatever its length") {
    for (int length = 1; length <= 18; ++length) {
        const std::string digits = std::string("987654321098765432").substr(0, static_cast<std::size_t>(length));
        for (const char* end : {",", "}", "]", " ", "\n"}) {
            const Padded text(digits + end);
            Cursor c = text.cursor();
            std::int64_t value = -1;
            CAPTURE(digits);
            CHECK(scan_integer(c, value) == Scan::ok);
            CHECK(std::to_string(value) == digits);
            CHECK(*c.at == *end);
        }
    }
    const Padded cut("123");
    Cursor c = cut.cursor();
    std::int64_t value = -1;
    CHECK(scan_integer(c, value) == Scan::more);
}

TEST_CASE("escapes are resolved, what is none stays as it stands") {
    CHECK(decoded(R"(a\"b\\c\/d)") == "a\"b\\c/d");
    CHECK(decoded(R"(\b\f\n\r\t)") == "\b\f\n\r\t");
    CHECK(decoded(R"(\u00e9 \u20ac)") == "é €");
    CHECK(decoded(R"(\ud83d\ude00)") == "😀");
    CHECK(decoded(R"(C:\Users\x)") == R"(C:\Users\x)");
    CHECK(decoded(R"(\u12)") == R"(\u12)");
    CHECK(decoded("end\\") == "end\\");
}

TEST_CASE("texts come out as valid UTF-8") {
    CHECK(decoded("caf\xc3\xa9") == "café");
    CHECK(decoded("\xff\x80") == "\uFFFD\uFFFD");
    CHECK(decoded("\xc0\xaf") == "\uFFFD\uFFFD");            // overlong
    CHECK(decoded("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // half a surrogate pair
    CHECK(decoded(R"(\ud83d alone)") == "\uFFFD alone");
    CHECK(decoded("cut \xe2\x82") == "cut \uFFFD\uFFFD");
}

TEST_CASE("brackets are skipped wherever the text in memory ends") {
    const std::string text = R"({"a": [1, {"b": "}]\"{["}], "c": "\\", "long": ")" + std::string(200, 'x') + R"(\\\"", "d": [[[]]]}, rest)";
    const std::size_t length = text.size() - 6;
    for (std::size_t cut = 1; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        SkipState state;
        const Padded first(text.substr(1, cut - 1));
        Cursor c = first.cursor();
        if (skip_brackets(c, state) == Scan::ok) {
            CHECK(static_cast<std::size_t>(c.at - first.cursor().at) + 1 == length);
            continue;
        }
        CHECK(c.at == c.end);
        const Padded second(text.substr(cut));
        Cursor d = second.cursor();
        CHECK(skip_brackets(d, state) == Scan::ok);
        CHECK(static_cast<std::size_t>(d.at - second.cursor().at) + cut == length);
    }
}

TEST_CASE("the rest of a string is skipped wherever the text in memory ends") {
    const std::string text = R"(abc\\ \" )" + std::string(40, 'y') + R"(\\" behind)";
    const std::size_t length = text.size() - 7;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        bool escaped = false;
        const Padded first(text.substr(0, cut));
        Cursor c = first.cursor();
        if (skip_text_rest(c, escaped) == Scan::ok) {
            CHECK(static_cast<std::size_t>(c.at - first.cursor().at) == length);
            continue;
        }
        const Padded second(text.substr(cut));
        Cursor d = second.cursor();
        CHECK(skip_text_rest(d, escaped) == Scan::ok);
        CHECK(static_cast<std::size_t>(d.at - second.cursor().at) + cut == length);
    }
}

TEST_CASE("an event read by the layout of another gives what reading it by its keys gives") {
    const char* const events[] = {
        R"({"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2, "args": {"correlation": 1, "grid": [1, 2, 3]}})",
        R"({"ph": "X", "cat": "kernel", "name": "b\"c", "pid": 1, "tid": 70, "ts": 100.123, "dur": 0, "args": {"correlation": 99, "grid": [7, 8, 9]}})",
        R"({"ph": "X", "cat": "kernel", "name": "null", "pid": 1, "tid": 70, "ts": null, "dur": NaN, "args": {"correlation": null, "grid": [-7, 8.0, 1]}})",
        R"({"ph": "X", "cat": "kernel", "name": 5, "pid": 1, "tid": "stream 7", "ts": "3.5", "dur": 1, "args": {"correlation": 4, "grid": [1, 1, 1]}})",
        R"({"ph": "X", "cat": "kernel", "name": "d", "pid": 1, "tid": 70, "ts": 1, "dur": 1, "args": {"correlation": 4, "grid": [1, 1]}})",
        R"({"ph": "X", "cat": "kernel", "name": "e", "pid": 1, "tid": 70, "ts": 1, "dur": 1, "args": {"correlation": [4], "grid": [1, 1, 1]}})",
        R"({"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "args": {"Python id": 1}})",
        R"({"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "args": {"Python id": 1}})",
        R"({"ph": "s", "id": 5, "pid": 1, "cat": "ac2g", "name": "ac2g"})",
        R"({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "python"}})",
    };
    EventParser warm(PythonEvents::modules);
    for (int round = 0; round < 3; ++round) {
        for (const char* json : events) {
            CAPTURE(json);
            const Padded text(json);
            EventParser cold(PythonEvents::modules);
            const Event* expected = nullptr;
            const Event* found = nullptr;
            Cursor c = text.cursor();
            Cursor d = text.cursor();
            REQUIRE(cold.parse(c, expected) == Scan::ok);
            REQUIRE(warm.parse(d, found) == Scan::ok);
            CHECK(c.at == d.at);
            CHECK(expected->category == found->category);
            if (expected->category == Category::other) continue;
            CHECK(expected->phase == found->phase);
            CHECK(expected->numbers == found->numbers);
            for (std::size_t i = 0; i < expected->texts.size(); ++i) CHECK(expected->texts[i].view() == found->texts[i].view());
            for (std::size_t i = 0; i < expected->scalars.size(); ++i) CHECK(expected->scalars[i].view() == found->scalars[i].view());
        }
    }
}

TEST_CASE("plain and gzip files give the same text in chunks of any size") {
    std::string text;
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) text += static_cast<char>('a' + random() % 7);
    const std::string packed = gzip(text);
    const std::string halves = gzip(text.substr(0, 7777)) + gzip("") + gzip(text.substr(7777));
    for (const std::size_t size : {std::size_t{1}, std::size_t{13}, std::size_t{4096}, std::size_t{1} << 20}) {
        CAPTURE(size);
        StreamEnd end = StreamEnd::read_error;
        const bool long_enough = size > 1;  // byte by byte takes long
        CHECK(all_text(long_enough ? text : text.substr(0, 500), size, end) == (long_enough ? text : text.substr(0, 500)));
        CHECK(end == StreamEnd::complete);
        if (!long_enough) continue;
        CHECK(all_text(packed, size, end) == text);
        CHECK(end == StreamEnd::complete);
        CHECK(all_text(halves, size, end) == text);
        CHECK(end == StreamEnd::complete);
        CHECK(all_text(halves + std::string(100, '\0'), size, end) == text);
        CHECK(end == StreamEnd::complete);
    }
}

TEST_CASE("damaged gzip gives what can be unpacked, and says what is wrong") {
    std::string text;
    std::mt19937 random(2);
    for (int i = 0; i < 30000; ++i) text += static_cast<char>(random());
    const std::string packed = gzip(text);
    StreamEnd end = StreamEnd::complete;

    const std::string cut = all_text(packed.substr(0, packed.size() / 2), 4096, end);
    CHECK(end == StreamEnd::cut_gzip);
    CHECK(cut == text.substr(0, cut.size()));
    CHECK(cut.size() > 10000);

    std::string flipped = packed;
    flipped[flipped.size() - 6] ^= 1;  // in the checksum
    CHECK(all_text(flipped, 4096, end) == text);
    CHECK(end == StreamEnd::wrong_checksum);

    CHECK(all_text(packed + "junk", 4096, end) == text);
    CHECK(end == StreamEnd::trailing_bytes);

    CHECK(all_text("\x1f\x8b\x08", 4096, end).empty());
    CHECK(end == StreamEnd::cut_gzip);
    CHECK(all_text("\x1f\x8b rubbish that is no gzip at all", 4096, end).empty());
    CHECK(end == StreamEnd::damaged_gzip);
}

TEST_CASE("a stream can be left before its end") {
    const TemporaryFile file(std::string(5'000'000, 'x'));
    ChunkStream stream(file.path(), 1000);
    CHECK(stream.next() != nullptr);
}

TEST_CASE("the window keeps what is being read together, however small the chunks and however large it is") {
    std::string text;
    for (int i = 0; i < 60000; ++i) text += std::to_string(i) + ",";
    const TemporaryFile file(text);
    ChunkStream stream(file.path(), 1000);
    TextWindow window(stream);
    REQUIRE(window.refill(window.cursor.at));
    std::string all;
    std::mt19937 random(3);
    for (;;) {
        // Read on by some bytes, then ask for more while keeping the rest: small rests mostly, now and then all of it.
        const auto left = static_cast<std::size_t>(window.cursor.end - window.cursor.at);
        const std::size_t used = all.size() / 100000 % 2 == 1 ? left / 8 : random() % (left + 1);
        CHECK(window.offset_of(window.cursor.at) == all.size());
        all.append(window.cursor.at, used);
        window.cursor.at += used;
        if (!window.refill(window.cursor.at)) break;
    }
    all.append(window.cursor.at, window.cursor.end);
    CHECK(all == text);
}
