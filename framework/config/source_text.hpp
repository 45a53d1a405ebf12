#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Line and column, from 1; 0 means "not known". A column counts bytes.
struct Mark {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

/// A text that diagnostics point into: a config file, or an argument of the command line.
class ADPIPE_EXPORT SourceText {
public:
    SourceText(std::string name, std::string text);

    const std::string& name() const noexcept { return name_; }
    std::string_view text() const noexcept { return text_; }
    /// The text of a line without its end; empty if there is none with that number.
    std::string_view line(std::uint32_t number) const noexcept;
    Mark mark_at(std::size_t offset) const noexcept;
    /// The offset of a mark; the text's size if it is outside.
    std::size_t offset_of(Mark mark) const noexcept;

private:
    std::string name_;
    std::string text_;
    std::vector<std::size_t> line_begin_;
};

/// Where something in a config came from. Without a source: from the program itself.
struct Origin {
    std::shared_ptr<const SourceText> source;
    Mark mark;
};

/// An error that points at `origin`, with the source line.
ADPIPE_EXPORT Diagnostic error_at(const Origin& origin, std::string code, std::string message);

}  // namespace adpipe
