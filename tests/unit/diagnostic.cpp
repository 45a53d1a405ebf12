#include <adpipe/diagnostic.hpp>

#include <doctest/doctest.h>

using namespace adpipe;

TEST_CASE("a diagnostic shows place, message, code, the line with a caret, notes and hint") {
    Diagnostic d;
    d.code = "ADP-TEST-001";
    d.message = "unknown option 'layerz'";
    d.where = {"a.yaml", 12, 9};
    d.source_line = "        layerz: 5";
    d.notes = {"did you mean 'layers'?"};
    d.hint = "see adpipe inspect";
    CHECK(format_text(d) ==
          "a.yaml:12:9: error: unknown option 'layerz' [ADP-TEST-001]\n"
          "   12 |         layerz: 5\n"
          "      |         ^\n"
          "  note: did you mean 'layers'?\n"
          "  hint: see adpipe inspect\n");
}

TEST_CASE("control characters and invalid UTF-8 never reach the terminal") {
    Diagnostic d;
    d.severity = Severity::warning;
    d.message = "bad \033[31m\xff\xc2\x9b name\nsecond é";
    CHECK(format_text(d) == "warning: bad \\x1b[31m\\xff\\xc2\\x9b name\\nsecond é\n");
}

TEST_CASE("a long source line is cut around the caret") {
    Diagnostic d;
    d.message = "m";
    d.where = {"f", 1, 100001};
    d.source_line.assign(200001, 'a');
    d.source_line[100000] = 'X';
    const std::string text = format_text(d);
    CHECK(text.size() < 400);
    const std::string caret_line = text.substr(text.rfind(" | ") + 3);
    const std::string source = text.substr(text.find(" | ") + 3);
    CHECK(source[caret_line.find('^') + 2] == 'X');  // "…" takes three bytes and one column
}
