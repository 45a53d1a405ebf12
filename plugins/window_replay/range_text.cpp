#include "range_text.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace adpipe::window {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Position after `word` as a whole word, or npos.
std::size_t after_word(std::string_view text, std::string_view word, std::size_t from = 0) {
    for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool starts = at == 0 || !is_word(text[at - 1]);
        const std::size_t end = at + word.size();
        const bool ends = end == text.size() || !is_word(text[end]) || !is_word(word.back());
        if (starts && ends) return end;
    }
    return std::string_view::npos;
}

/// The number at `at`, after spaces and one of "=:"; -1 if there is none.
std::int64_t number_at(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '=' || text[at] == ':' || text[at] == '_')) ++at;
    std::int64_t value = -1;
    for (int digits = 0; at < text.size() && digits < 9 && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at, ++digits) {
        value = std::max<std::int64_t>(value, 0) * 10 + (text[at] - '0');
    }
    return value;
}

/// The number that stands before `word`, as in "8 gen reqs"; -1 if there is none.
std::int64_t number_before(std::string_view text, std::string_view word) {
    std::size_t at = text.find(word);
    if (at == std::string_view::npos) return -1;
    while (at > 0 && text[at - 1] == ' ') --at;
    std::size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    return begin == at ? -1 : number_at(text.substr(begin, at - begin), 0);
}

/// The number right behind `word`; -1 if there is none.
std::int64_t number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    return at == std::string_view::npos ? -1 : number_at(text, at + word.size());
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

}  // namespace

RangeFacts facts_of_text(std::string_view original) {
    const std::string text = lower(original);
    RangeFacts facts;
    for (const std::string_view word : {"batch_size", "batch size", "batchsize", "bs", "b"}) {
        const std::size_t at = after_word(text, word);
        // A lone "b" is too common a word unless a number is tied to it.
        if (at == std::string_view::npos || (word == "b" && (at >= text.size() || text[at] != '='))) continue;
        facts.batch_size = number_at(text, at);
        if (facts.batch_size >= 0) break;
    }
    // "1 ctx reqs, 7 gen reqs" (TensorRT-LLM); "execute_8_context_1(sq512…)_generation_7(…)" (vLLM, SGLang)
    const std::int64_t context = std::max(
        {number_before(text, "ctx req"), number_before(text, "context req"), number_after(text, "_context_")});
    const std::int64_t generation = std::max(
        {number_before(text, "gen req"), number_before(text, "generation req"), number_after(text, "_generation_")});
    if (context >= 0 || generation >= 0) {
        facts.phase = context > 0 && generation > 0 ? Phase::mixed
                      : context > 0                 ? Phase::prefill
                      : generation > 0              ? Phase::decode
                                                    : Phase::unknown;
        if (facts.phase == Phase::decode) facts.batch_size = generation;
        return facts;
    }
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    const bool prefill = has("prefill") || after_word(text, "extend") != std::string_view::npos;
    const bool decode = has("decode") && !has("decoder");
    if (has("warmup") || has("warm-up") || has("warm up") || has("capture")) {
        facts.phase = Phase::capture;
    } else if (prefill || decode) {
        facts.phase = prefill && decode ? Phase::mixed : prefill ? Phase::prefill : Phase::decode;
    } else if (has("mixed")) {
        facts.phase = Phase::mixed;
    }
    return facts;
}

}  // namespace adpipe::window
