// What the YAML library lets pass and a config must not hold.
#include "config/yaml_reader.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;

namespace {

struct YamlReading {
    std::optional<YamlNode> node;
    std::string messages;  ///< "line:column code", separated by blanks
};

YamlReading read_text(const std::string& text) {
    std::vector<Diagnostic> diagnostics;
    YamlReading reading;
    reading.node = read_yaml(std::make_shared<SourceText>("test.yaml", text), diagnostics);
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!reading.messages.empty()) reading.messages += ' ';
        reading.messages += std::to_string(diagnostic.where.line) + ":" + std::to_string(diagnostic.where.column) + " " + diagnostic.code;
        CHECK(diagnostic.where.file == "test.yaml");
    }
    CHECK(reading.node.has_value() == diagnostics.empty());
    return reading;
}

}  // namespace

TEST_CASE("a config's values come with their places, from 1, and stay text") {
    const auto reading = read_text("a: 010\nlist:\n  - yes\n  - 'quoted'\n  - {k: v}\n");
    REQUIRE(reading.node);
    const YamlNode& root = *reading.node;
    REQUIRE(root.entries.size() == 2);
    CHECK(root.entries[0].value.scalar == "010");
    CHECK_FALSE(root.entries[0].value.quoted);
    CHECK(root.entries[0].value.mark.line == 1);
    CHECK(root.entries[0].value.mark.column == 4);
    const YamlNode& list = root.entries[1].value;
    REQUIRE(list.items.size() == 3);
    CHECK(list.items[0].scalar == "yes");
    CHECK(list.items[1].quoted);
    CHECK(list.items[1].mark.line == 4);
    CHECK(list.items[1].mark.column == 5);
    CHECK(list.items[2].entries[0].key == "k");
}

TEST_CASE("a missing value is where its key is") {
    const auto reading = read_text("a:\nb: 1\n");
    REQUIRE(reading.node);
    CHECK(reading.node->entries[0].value.kind == YamlNode::Kind::null);
    CHECK(reading.node->entries[0].value.mark.line == 1);
}

TEST_CASE("a key that is there twice") {
    CHECK(read_text("a: 1\nb: 2\na: 3\n").messages == "3:1 ADP-CFG-003");
    CHECK(read_text("x: {a: 1, a: 2}\n").messages == "1:11 ADP-CFG-003");
    CHECK(read_text("x: [{a: 1}, {a: 2}]\n").messages.empty());
}

TEST_CASE("more than one document") {
    CHECK(read_text("a: 1\n---\nb: 2\n").messages.find("ADP-CFG-004") != std::string::npos);
    CHECK(read_text("---\na: 1\n...\n").messages.empty());
    CHECK(read_text("# nothing but a comment\n").messages.empty());
    CHECK(read_text("").messages.empty());
}

TEST_CASE("a quote that is never closed") {
    CHECK(read_text("b: 1\na: 'q\nc: 2\n").messages == "2:4 ADP-CFG-005");
    CHECK(read_text("b: 1\na: \"q\nc: 2\n").messages.find("2:4 ADP-CFG-00") != std::string::npos);
    CHECK(read_text("a: 'it''s'\nb: \"a \\\" b\"\nc: 'two\n  lines'\n").messages.empty());
    CHECK(read_text("a: |\n  'block\nb: >\n  \"folded\n").messages.empty());
    CHECK(read_text("é: 'ü'\nb: 'ß\n").messages == "2:4 ADP-CFG-005");
}

TEST_CASE("anchors, aliases, merge keys and tags") {
    CHECK(read_text("a: &x 1\nb: *x\n").messages.find("1:4 ADP-CFG-006") == 0);
    CHECK(read_text("a: &x {k: 1}\nb:\n  <<: *x\n").messages.find("ADP-CFG-006") != std::string::npos);
    CHECK(read_text("a: !!str 5\n").messages == "1:4 ADP-CFG-006");
    CHECK(read_text("a: !custom {b: 1}\n").messages == "1:4 ADP-CFG-006");
}

TEST_CASE("bytes that the parser would stop at or replace") {
    CHECK(read_text("a: 1\nb: \x04 2\nc: 3\n").messages == "2:4 ADP-CFG-001");
    CHECK(read_text(std::string{"a: 1\nb: \0", 9}).messages == "2:4 ADP-CFG-001");
    CHECK(read_text("a: \xff\n").messages == "1:4 ADP-CFG-001");
    CHECK(read_text("a: \xc0\xaf\n").messages == "1:4 ADP-CFG-001");      // overlong
    CHECK(read_text("a: \xed\xa0\x80\n").messages == "1:4 ADP-CFG-001");  // half a surrogate pair
    CHECK(read_text("a: \xf4\x90\x80\x80\n").messages == "1:4 ADP-CFG-001");
    CHECK(read_text("a: gr\xc3\xbc\xc3\x9f \xf0\x9f\x99\x82\n").messages.empty());
}

TEST_CASE("line ends of another system") {
    const auto reading = read_text("a: 1\r\nb: 'two'\r\n");
    REQUIRE(reading.node);
    CHECK(reading.node->entries[0].value.scalar == "1");
    CHECK(reading.node->entries[1].value.mark.line == 2);
    CHECK(read_text("a: 1\rb: 2\r").messages == "1:5 ADP-CFG-001");
}

TEST_CASE("what is no YAML, and what is too deep") {
    CHECK(read_text("a: [1, 2\nb: 3\n").messages.find("ADP-CFG-002") != std::string::npos);
    CHECK(read_text("a: b: c\n").messages.find("ADP-CFG-002") != std::string::npos);
    CHECK(read_text("\ta: 1\n").messages.find("ADP-CFG-002") != std::string::npos);
    CHECK(read_text("a: " + std::string(100000, '[')).messages.find("ADP-CFG-002") != std::string::npos);
    CHECK(read_text("a: {\n").messages.find("ADP-CFG-002") != std::string::npos);
}

TEST_CASE("keys that are no names") { CHECK(read_text("[a, b]: 1\n").messages.find("ADP-CFG-008") != std::string::npos); }
