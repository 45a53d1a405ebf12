#pragma once

#include "characters.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace adpipe::parse {

/// What the arguments of one call name: gathered first, because the vertex of the call is added after those that it uses.
struct Arguments {
    struct Use {
        VertexId vertex;
        std::uint32_t position;
    };
    struct Text {
        std::string_view text;
        std::uint32_t position;
    };
    std::vector<Use> uses;
    std::vector<Text> texts;

    void clear() {
        uses.clear();
        texts.clear();
    }
    /// Connects everything to `vertex`.
    void attach(GraphBuilder& builder, VertexId vertex) const {
        for (const Use& use : uses) builder.connect(use.vertex, vertex, use.position);
        for (const Text& text : texts) builder.literal(vertex, text.position, text.text);
    }
};

/// Why a text could not be read, and where.
struct Fault {
    const char* at = nullptr;
    const char* message = nullptr;
};

/// The place after the '>' that closes the '<' at `at` ("<function f.<locals>.g at 0x7f…>"), or nullptr.
inline const char* skip_angle_brackets(const char* at, const char* end) noexcept {
    int depth = 0;
    for (; at != end; ++at) {
        if (*at == '<') ++depth;
        else if (*at == '>' && at[-1] != '-' && --depth == 0) return at + 1;
    }
    return nullptr;
}

/// The place after the closing quote of the Python text at `at`, or nullptr.
inline const char* skip_quoted(const char* at, const char* end) noexcept {
    const char quote = *at;
    for (++at; at != end; ++at) {
        if (*at == quote) return at + 1;
        if (*at == '\\' && ++at == end) break;
    }
    return nullptr;
}

/// Reads a value in brackets as Python prints it: lists, tuples, dicts, slice(…), device(type='cuda', index=0), nested in each other.
/// `resolve(word, is_opaque)` gives the vertex that a word names, or no_vertex; is_opaque: the word stands inside the printed form of
/// some object, where only a known name is one.
template <class Resolve>
class ListReader {
public:
    ListReader(Arguments& arguments, Fault& fault, Resolve resolve) : arguments_(arguments), fault_(fault), resolve_(resolve) {}

    /// Reads from the opening bracket at `at`, or from the word before it. Gives the place after the closing bracket, or nullptr and a
    /// fault.
    const char* read(const char* at, const char* end, std::uint32_t position) {
        end_ = end;
        position_ = position;
        open_.clear();
        const char* const begin = at;
        const std::size_t uses = arguments_.uses.size();
        const std::size_t texts = arguments_.texts.size();
        do at = step(at);
        while (at != nullptr && !open_.empty());
        if (at != nullptr && arguments_.uses.size() == uses) {
            arguments_.texts.resize(texts);
            arguments_.texts.push_back({{begin, static_cast<std::size_t>(at - begin)}, position});
        }
        return at;
    }

private:
    struct Bracket {
        const char* begin;  ///< of the word before it, if there is one
        char closing;
        bool is_opaque;
        bool is_object;  ///< its text as a whole is one literal
    };
    static constexpr std::size_t deepest = 200;

    bool is_opaque() const { return !open_.empty() && open_.back().is_opaque; }

    const char* fail(const char* at, const char* message) {
        fault_ = {at, message};
        return nullptr;
    }

    const char* step(const char* at) {
        if (at == end_) return fail(open_.back().begin, "this bracket is never closed");
        switch (*at) {
            case '(': return open(at, at, ')', is_opaque(), false);
            case '[': return open(at, at, ']', is_opaque(), false);
            case '{': return open(at, at, '}', is_opaque(), false);
            case ')':
            case ']':
            case '}': return close(at);
            case '\'':
            case '"': return take_text(at, skip_quoted(at, end_), "this quote is never closed");
            case '<':
                return at + 1 != end_ && (at[1] == ' ' || at[1] == '=')
                           ? at + 1
                           : take_text(at, skip_angle_brackets(at, end_), "this '<' is never closed");
            case ',':
            case ' ':
            case '\t':
            case '\r':
            case '\n':
            case '%':
            case '=':
            case '>':
            case ';': return at + 1;
            default: return word(at);
        }
    }

    const char* open(const char* begin, const char* bracket, char closing, bool opaque, bool is_object) {
        if (open_.size() >= deepest) return fail(bracket, "brackets nested too deep");
        open_.push_back({begin, closing, opaque, is_object});
        return bracket + 1;
    }

    const char* close(const char* at) {
        const Bracket bracket = open_.back();
        if (*at != bracket.closing) return fail(at, "this bracket closes one of another kind");
        open_.pop_back();
        if (bracket.is_object && !is_opaque()) keep(bracket.begin, at + 1);
        return at + 1;
    }

    const char* take_text(const char* at, const char* after, const char* message) {
        if (after == nullptr) return fail(at, message);
        if (!is_opaque()) keep(at, after);
        return after;
    }

    void keep(const char* begin, const char* after) {
        arguments_.texts.push_back({{begin, static_cast<std::size_t>(after - begin)}, position_});
    }

    const char* word(const char* at) {
        const Word word = read_word(at, end_);
        if (word.text.empty()) return fail(at, "a character that has no place here");
        const char* const after = at + word.text.size();
        if (after != end_ && *after == '(') {
            const bool is_slice = word.text == "slice";
            return open(at, after, ')', is_opaque() || !is_slice, !is_slice && !is_opaque());
        }
        if (open_.empty()) return fail(at, "a value in brackets is wanted here");
        if (after != end_ && *after == '=') return after + 1;  // a field's name
        if (word.text == ":") return after;
        const VertexId vertex = resolve_(word, is_opaque());
        if (vertex != no_vertex) arguments_.uses.push_back({vertex, position_});
        else if (!is_opaque()) keep(at, after);
        return after;
    }

    Arguments& arguments_;
    Fault& fault_;
    Resolve resolve_;
    const char* end_ = nullptr;
    std::uint32_t position_ = 0;
    std::vector<Bracket> open_;
};

}  // namespace adpipe::parse
