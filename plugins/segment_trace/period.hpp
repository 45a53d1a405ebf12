#pragma once

// The repeating unit of a sequence of kernels.

#include "layering.hpp"

#include <optional>
#include <string>

namespace segment {

/// A kernel, or two in a row, that occurs once in every layer.
struct Anchor {
    enum class Kind : std::uint8_t { exact, alike, pair };
    Kind kind = Kind::exact;
    Symbol first = 0;
    Symbol second = 0;
};

/// The same question answered in another way.
struct RunnerUp {
    std::size_t layers = 0;
    Span example;  ///< a layer of the commonest kind
    double total = 0;
};

struct Period {
    Layering layering;
    std::string first_kernel;  ///< short name of what begins a layer
    double confidence = 0;     ///< 0 to 1
    std::optional<RunnerUp> runner_up;
};

/// Nothing if the sequence repeats nothing. Time grows linearly with the sequence.
std::optional<Period> find_period(const SymbolTable& table, SymbolSpan sequence);

/// Layers begin at, or around, the given positions (ascending, at least two).
std::optional<Period> period_of_anchors(const SymbolTable& table, SymbolSpan sequence, const std::vector<std::uint32_t>& anchors,
                                        bool begin_at_anchor);

/// Layers are the given spans (ascending, at least two).
std::optional<Period> period_of_spans(const SymbolTable& table, SymbolSpan sequence, std::vector<Span> spans);

}  // namespace segment
