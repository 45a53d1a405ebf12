#pragma once

#include <adpipe/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::parse {

/// Collects what is wrong with one text. Places are given as pointers into the text; line and column are worked out only for what is
/// kept, so that a text with a million faults costs no more than one with twenty.
class Findings {
public:
    static constexpr std::size_t limit = 20;

    Findings(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

    /// `at` points into the text, or is nullptr for the file as a whole.
    void error(const char* code, std::string message, const char* at = nullptr, std::string hint = {});
    void warning(const char* code, std::string message, const char* at = nullptr, std::string hint = {});
    void note(const char* code, std::string message, const char* at = nullptr, std::string hint = {});

    bool has_errors() const { return errors_.total != 0; }
    std::size_t errors() const { return errors_.total; }
    /// Throws Error with everything found if there is an error among it.
    void throw_if_errors() const;
    /// Warnings and notes, in the order found.
    std::vector<Diagnostic> warnings() const;

    std::uint32_t line_of(const char* at) const;

private:
    struct Kept {
        std::vector<Diagnostic> diagnostics;
        std::size_t total = 0;
    };
    void add(Kept& kept, Severity severity, const char* code, std::string message, const char* at, std::string hint);
    Diagnostic diagnose(Severity severity, const char* code, std::string message, const char* at, std::string hint) const;

    std::string file_;
    std::string_view text_;
    Kept errors_;
    Kept warnings_;
    /// Lines before the place that line_of() was last asked for.
    mutable struct {
        std::size_t offset = 0;
        std::size_t lines = 0;
    } counted_;
};

/// The text around `at` for use in a message: to the end of the line, at most 40 bytes, cut between characters.
std::string_view text_at(std::string_view text, const char* at);

}  // namespace adpipe::parse
