#include "document.hpp"

#include <adpipe/render/text.hpp>

#include <fmt/format.h>

namespace adpipe::walkthrough {

using render::visible_text;
using render::xml_text;

class HtmlWriter {
public:
    using D = Document;
    std::string operator()(const D::Heading& piece) const { return fmt::format("<h{0}>{1}</h{0}>\n", piece.level, xml_text(piece.text)); }
    std::string operator()(const D::Paragraph& piece) const { return fmt::format("<p>{}</p>\n", xml_text(piece.text)); }
    std::string operator()(const D::Figure& piece) const {
        std::string out = "<pre>";
        for (const std::string& line : piece.lines) out.append(xml_text(visible_text(line))).append("\n");
        return out + "</pre>\n";
    }
    std::string operator()(const D::Facts& piece) const {
        std::string out = "<table>\n";
        for (const auto& [what, value] : piece.facts)
            out += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", xml_text(what), xml_text(value));
        return out + "</table>\n";
    }
    std::string operator()(const D::List& piece) const {
        std::string out = "<ul>\n";
        for (const std::string& item : piece.items) out += fmt::format("<li>{}</li>\n", xml_text(item));
        return out + "</ul>\n";
    }
    std::string operator()(const D::Tree& piece) const {
        std::string out;
        int open = 0;  // lists, and items in all but the innermost
        for (const D::Item& item : piece.items) {
            const int wanted = item.depth + 1;
            if (wanted > open) {
                for (; open < wanted; ++open) out += "<ul>\n<li>";
            } else {
                out += "</li>\n";
                for (; open > wanted; --open) out += "</ul>\n</li>\n";
                out += "<li>";
            }
            const std::string text = xml_text(item.text);
            if (item.target.empty()) out += text;
            else out += fmt::format("<a href=\"{}\">{}</a>", xml_text(link_target(item.target)), text);
            out += xml_text(item.behind);
        }
        if (open > 0) out += "</li>\n</ul>\n";
        for (; open > 1; --open) out += "</li>\n</ul>\n";
        return out;
    }
};

std::string Document::html(std::string_view title, const shared::Asset& style) const {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
        "'none'; style-src ";
    out += shared::policy_hash(style.sha256) + "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out.append("<title>").append(xml_text(title)).append("</title>\n<style>").append(style.text).append("</style>\n</head>\n<body>\n");
    const HtmlWriter writer;
    for (const Piece& piece : pieces_) out += std::visit(writer, piece);
    return out + "</body>\n</html>\n";
}

}  // namespace adpipe::walkthrough
