#pragma once

// A document in pieces, written as Markdown or for a terminal. Texts are raw: each form escapes what it must.

#include "../shared/web_asset.hpp"

#include <adpipe/stage.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace adpipe::walkthrough {

/// A link's target, "attention.py:88": what could end a link is percent-encoded, and no scheme begins it.
std::string link_target(std::string_view target);

class Document {
public:
    using Fact = std::pair<std::string, std::string>;

    void heading(int level, std::string text) { pieces_.emplace_back(Heading{level, std::move(text)}); }
    void paragraph(std::string text) { pieces_.emplace_back(Paragraph{std::move(text)}); }
    /// Lines whose columns matter.
    void figure(std::vector<std::string> lines) { pieces_.emplace_back(Figure{std::move(lines)}); }
    void facts(std::vector<Fact> facts) { pieces_.emplace_back(Facts{std::move(facts)}); }
    void list(std::vector<std::string> items) { pieces_.emplace_back(List{std::move(items)}); }
    /// A nested list: depth from 0, text, and where it leads: "file:line", or nothing.
    struct Item {
        int depth = 0;
        std::string text;
        std::string target;
        std::string behind;  ///< follows the linked text
    };
    void tree(std::vector<Item> items) { pieces_.emplace_back(Tree{std::move(items)}); }

    std::string markdown() const;
    /// One page that loads nothing and holds no script. `title` as raw text; `style`: a style sheet and its SHA-256 in
    /// hexadecimal.
    std::string html(std::string_view title, const shared::Asset& style) const;
    std::string terminal(const Terminal& terminal) const;

private:
    struct Heading {
        int level;
        std::string text;
    };
    struct Paragraph {
        std::string text;
    };
    struct Figure {
        std::vector<std::string> lines;
    };
    struct Facts {
        std::vector<Fact> facts;
    };
    struct List {
        std::vector<std::string> items;
    };
    struct Tree {
        std::vector<Item> items;
    };
    using Piece = std::variant<Heading, Paragraph, Figure, Facts, List, Tree>;
    friend class HtmlWriter;
    friend class MarkdownWriter;
    friend class TerminalWriter;
    std::vector<Piece> pieces_;
};

}  // namespace adpipe::walkthrough
