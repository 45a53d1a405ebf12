#include "document.hpp"

#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::walkthrough {

using render::Emphasis;
using render::markdown_cell;
using render::visible_text;

namespace {

/// What of `text`, a word too long for a line, fits into `columns`; at least one character.
std::string beginning_of(const std::string& text, int columns) {
    std::size_t end = 0;
    for (std::size_t next = 0; next < text.size();) {
        do ++next;
        while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0U) == 0x80U);
        if (end > 0 && render::display_width(text.substr(0, next)) > columns) break;
        end = next;
    }
    // Rather behind a part of a path or of a name than inside of it.
    const std::size_t part = end < text.size() ? text.find_last_of("/_,<:", end - 1) : std::string::npos;
    if (part != std::string::npos && part > end / 2) end = part + 1;
    return text.substr(0, end);
}

/// Breaks `text` into lines of at most `width` columns, at blanks; further lines begin with `indent`.
std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& indent) {
    std::string out = first;
    int column = render::display_width(first);
    bool at_begin = true;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const int room = width - render::display_width(indent);
        if (at_begin && render::display_width(word) > room && room > 8) {  // a kernel's name goes on where a line ends
            const std::string piece = beginning_of(word, width - column);
            out += piece + "\n" + indent;
            column = render::display_width(indent);
            begin += piece.size();
            continue;
        }
        const int size = render::display_width(word);
        if (!at_begin && column + 1 + size > width) {
            out += "\n" + indent;
            column = render::display_width(indent);
            at_begin = true;
            continue;
        }
        if (!at_begin) {
            out += ' ';
            ++column;
        }
        out += word;
        column += size;
        at_begin = false;
        begin = end + 1;
    }
    return out + "\n";
}

/// A block of code that no line of it can end.
std::string fenced(const std::vector<std::string>& lines) {
    std::string fence = "```";
    for (const std::string& line : lines) {
        while (line.find(fence) != std::string::npos) fence += '`';
    }
    std::string out = fence + "text\n";
    for (const std::string& line : lines) out += visible_text(line) + "\n";
    return out + fence + "\n\n";
}

}  // namespace

std::string link_target(std::string_view target) {
    std::string out;
    for (const char c : target) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           std::string_view{"/._-:#~+"}.find(c) != std::string_view::npos;
        if (plain) out += c;
        else out += fmt::format("%{:02X}", byte);
    }
    // What looks like a scheme would not be a file.
    const std::size_t colon = out.find(':');
    const bool scheme = colon != std::string::npos && out.find_first_of("/.") > colon;
    return scheme ? "./" + out : out;
}

class MarkdownWriter {
public:
    using D = Document;
    std::string operator()(const D::Heading& piece) const {
        return std::string(static_cast<std::size_t>(piece.level), '#') + " " + markdown_cell(piece.text) + "\n\n";
    }
    std::string operator()(const D::Paragraph& piece) const { return markdown_cell(piece.text) + "\n\n"; }
    std::string operator()(const D::Figure& piece) const { return fenced(piece.lines); }
    std::string operator()(const D::Facts& piece) const {
        std::string out = "| | |\n|---|---|\n";
        for (const auto& [what, value] : piece.facts) out += fmt::format("| {} | {} |\n", markdown_cell(what), markdown_cell(value));
        return out + "\n";
    }
    std::string operator()(const D::List& piece) const {
        std::string out;
        for (const std::string& item : piece.items) out += "- " + markdown_cell(item) + "\n";
        return out + "\n";
    }
    std::string operator()(const D::Tree& piece) const {
        std::string out;
        for (const D::Item& item : piece.items) {
            out.append(static_cast<std::size_t>(item.depth) * 2, ' ').append("- ");
            if (item.target.empty()) out += markdown_cell(item.text);
            else out += fmt::format("[{}]({})", markdown_cell(item.text), link_target(item.target));
            out.append(markdown_cell(item.behind)).append("\n");
        }
        return out + "\n";
    }
};

class TerminalWriter {
public:
    using D = Document;
    explicit TerminalWriter(const Terminal& terminal) : width_{std::max(terminal.columns, 40)}, colour_{terminal.colour} {}
    std::string operator()(const D::Heading& piece) const {
        const std::string text = render::emphasised(visible_text(piece.text), Emphasis::strong, colour_) + "\n";
        return piece.level == 1 ? text : "\n" + text;
    }
    std::string operator()(const D::Paragraph& piece) const { return wrapped(visible_text(piece.text), width_, "", ""); }
    std::string operator()(const D::Figure& piece) const {
        std::string out;
        for (const std::string& line : piece.lines) out += render::fit(visible_text(line), width_) + "\n";
        return out;
    }
    std::string operator()(const D::Facts& piece) const {
        int widest = 0;
        for (const auto& [what, value] : piece.facts) widest = std::max(widest, render::display_width(what));
        std::string out;
        for (const auto& [what, value] : piece.facts) {
            const std::string label = "  " + render::pad_right(what, widest) + "  ";
            out += wrapped(visible_text(value), width_, label, std::string(static_cast<std::size_t>(widest) + 4, ' '));
        }
        return out;
    }
    std::string operator()(const D::List& piece) const {
        std::string out;
        for (const std::string& item : piece.items) out += wrapped(visible_text(item), width_, "  - ", "    ");
        return out;
    }
    std::string operator()(const D::Tree& piece) const {
        std::string out;
        for (const D::Item& item : piece.items) {
            // Stacks are deep: what is cut off at the end of a line is the place in the file.
            const std::string where = item.target.empty() ? "" : "  " + item.target;
            const std::string line = std::string(static_cast<std::size_t>(item.depth), ' ') + item.text + item.behind + where;
            out += render::fit(visible_text(line), width_) + "\n";
        }
        return out;
    }

private:
    int width_;
    bool colour_;
};

std::string Document::markdown() const {
    std::string out;
    const MarkdownWriter writer;
    for (const Piece& piece : pieces_) out += std::visit(writer, piece);
    while (out.size() > 1 && out.compare(out.size() - 2, 2, "\n\n") == 0) out.pop_back();
    return out;
}

std::string Document::terminal(const Terminal& terminal) const {
    std::string out;
    const TerminalWriter writer{terminal};
    for (const Piece& piece : pieces_) out += std::visit(writer, piece);
    return out;
}

}  // namespace adpipe::walkthrough
