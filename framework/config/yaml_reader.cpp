#include "config/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace adpipe {
namespace {

Mark from_yaml(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

// ---- before the parser: bytes that it would take for the end of the text, or replace without a word

/// The length of the UTF-8 sequence at `at`; 0 if it is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first < 0xf0) {
        const bool is_overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
        return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first < 0xf5) {
        const bool is_outside = (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
        return follows(1) && follows(2) && follows(3) && !is_outside ? 4 : 0;
    }
    return 0;
}

std::optional<Diagnostic> check_bytes(const std::shared_ptr<const SourceText>& source) {
    const std::string_view text = source->text();
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool ends_line = byte == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
        if ((byte < 0x20 && byte != '\n' && byte != '\t' && !ends_line) || byte == 0x7f) {
            return error_at({source, source->mark_at(at)}, "ADP-CFG-001",
                            fmt::format("the text holds the control character {:#04x}", byte));
        }
        const std::size_t length = utf8_length(text, at);
        if (length == 0) {
            return error_at({source, source->mark_at(at)}, "ADP-CFG-001", fmt::format("byte {:#04x} is not valid UTF-8", byte));
        }
        at += length;
    }
    return std::nullopt;
}

// ---- from the parser's events to nodes

class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(const std::shared_ptr<const SourceText>& source, std::vector<Diagnostic>& diagnostics)
        : source_{source}, diagnostics_{diagnostics} {}

    YamlNode take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_anchor(mark, anchor);
        YamlNode node;
        node.mark = from_yaml(mark);
        // The mark of a missing value is that of whatever comes next.
        if (!open_.empty() && open_.back().has_key) node.mark = open_.back().key_mark;
        place(std::move(node));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        report(from_yaml(mark), "ADP-CFG-006", "aliases (*name) are not supported here", "write the value out");
        place({});
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        YamlNode node;
        node.kind = YamlNode::Kind::scalar;
        node.mark = from_yaml(mark);
        node.scalar = value;
        node.quoted = tag == "!";
        if (node.quoted) check_quote(node.mark);
        place(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::list, mark, tag, anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::map, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    /// A list or map that is not complete yet.
    struct Open {
        YamlNode node;
        bool has_key = false;
        std::string key;
        Mark key_mark;
    };

    void report(Mark mark, std::string code, std::string message, std::string hint = {}) {
        Diagnostic diagnostic = error_at({source_, mark}, std::move(code), std::move(message));
        diagnostic.hint = std::move(hint);
        diagnostics_.push_back(std::move(diagnostic));
    }

    void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor == 0) return;
        report(from_yaml(mark), "ADP-CFG-006", "anchors (&name) are not supported here", "write the value out where it is used");
    }

    void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!") return;
        report(from_yaml(mark), "ADP-CFG-006", "tags (!name) are not supported here", "quote a value to make it text");
    }

    /// The parser takes the end of the file for the end of a quoted text.
    void check_quote(Mark mark) {
        const std::string_view text = source_->text();
        std::size_t at = source_->offset_of(mark);
        const char quote = at < text.size() ? text[at] : '\0';
        if (quote != '"' && quote != '\'') return;  // a block
        for (++at; at < text.size(); ++at) {
            if (quote == '"' && text[at] == '\\') {
                ++at;
            } else if (text[at] == quote) {
                const bool is_doubled = quote == '\'' && at + 1 < text.size() && text[at + 1] == quote;
                if (!is_doubled) return;
                ++at;
            }
        }
        report(mark, "ADP-CFG-005", "this quote is never closed");
    }

    void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        Open open;
        open.node.kind = kind;
        open.node.mark = from_yaml(mark);
        open_.push_back(std::move(open));
    }

    void close() {
        YamlNode node = std::move(open_.back().node);
        open_.pop_back();
        place(std::move(node));
    }

    void place(YamlNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else if (Open& parent = open_.back(); parent.node.kind == YamlNode::Kind::list) {
            parent.node.items.push_back(std::move(node));
        } else if (parent.has_key) {
            parent.has_key = false;
            parent.node.entries.push_back({std::move(parent.key), parent.key_mark, std::move(node)});
        } else {
            place_key(parent, node);
        }
    }

    void place_key(Open& map, const YamlNode& node) {
        map.has_key = true;
        map.key = node.scalar;
        map.key_mark = node.mark;
        if (node.kind != YamlNode::Kind::scalar) {
            report(node.mark, "ADP-CFG-008", "a key must be a name");
        } else if (node.scalar == "<<" && !node.quoted) {
            report(node.mark, "ADP-CFG-006", "merge keys (<<) are not supported here", "write the keys out");
        }
        for (const YamlNode::Entry& entry : map.node.entries) {
            if (entry.key != map.key || node.kind != YamlNode::Kind::scalar) continue;
            report(node.mark, "ADP-CFG-003",
                   fmt::format("the key '{}' is there twice; the first one is on line {}", map.key, entry.mark.line));
            break;
        }
    }

    std::shared_ptr<const SourceText> source_;
    std::vector<Diagnostic>& diagnostics_;
    std::vector<Open> open_;
    YamlNode root_;
};

/// Notices that a document begins, and stops there.
class SecondDocument : public YAML::EventHandler {
public:
    struct Found {
        Mark mark;
    };
    void OnDocumentStart(const YAML::Mark& mark) override { throw Found{from_yaml(mark)}; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

void sort_by_place(std::vector<Diagnostic>& diagnostics, std::size_t begin) {
    std::stable_sort(diagnostics.begin() + static_cast<std::ptrdiff_t>(begin), diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                         return std::pair{a.where.line, a.where.column} < std::pair{b.where.line, b.where.column};
                     });
}

}  // namespace

std::optional<YamlNode> read_yaml(const std::shared_ptr<const SourceText>& source, std::vector<Diagnostic>& diagnostics) {
    const std::size_t before = diagnostics.size();
    if (auto fault = check_bytes(source)) {
        diagnostics.push_back(std::move(*fault));
        return std::nullopt;
    }
    TreeBuilder tree{source, diagnostics};
    try {
        std::istringstream stream{std::string{source->text()}};
        YAML::Parser parser{stream};
        parser.HandleNextDocument(tree);
        SecondDocument second;
        parser.HandleNextDocument(second);
    } catch (const SecondDocument::Found& found) {
        diagnostics.push_back(error_at({source, found.mark}, "ADP-CFG-004", "a second document begins here; a config is one document"));
    } catch (const YAML::Exception& error) {
        // A quote that is never closed shows as something else further on; the quote is what to repair.
        if (diagnostics.size() == before) {
            // The text lies in memory: "bad file" is what yaml-cpp says of brackets nested deeper than it follows.
            const std::string what = error.msg == YAML::ErrorMsg::BAD_FILE ? "it is nested too deep to be a config"
                                                                           : "not valid YAML: " + error.msg;
            diagnostics.push_back(error_at({source, from_yaml(error.mark)}, "ADP-CFG-002", what));
        }
    }
    sort_by_place(diagnostics, before);
    if (diagnostics.size() != before) return std::nullopt;
    return tree.take_root();
}

}  // namespace adpipe
