#include "graph_text_support.hpp"

#include "parse_text/file_kind.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;
using parse::FileKind;
using namespace std::string_literals;

TEST_CASE("a file's kind is seen in its bytes") {
    CHECK(parse::file_kind("") == FileKind::empty);
    CHECK(parse::file_kind(" \n\t\r\n") == FileKind::empty);
    CHECK(parse::file_kind("# Transform: x\n# Stage: y\n# GraphModules found: 1\n") == FileKind::autodeploy);
    CHECK(parse::file_kind("\xef\xbb\xbf# GraphModule: x\n") == FileKind::autodeploy);
    CHECK(parse::file_kind("class GraphModule(torch.nn.Module):\n") == FileKind::fx_readable);
    CHECK(parse::file_kind("    def forward(self, x):\n") == FileKind::fx_readable);
    CHECK(parse::file_kind("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n") == FileKind::torch_export);
    CHECK(parse::file_kind("graph():\n    %x : [num_users=1] = placeholder[target=x]\n") == FileKind::fx_listing);
    CHECK(parse::file_kind("{\"nodes\": [], \"edges\": []}") == FileKind::layer_json);
    CHECK(parse::file_kind("{\"edges\": [{\"from\": \"a\", \"to\": \"b\"}, ") == FileKind::layer_json);
    CHECK(parse::file_kind("{\"layer\": 5, \"source_file\": \"x.txt\", ") == FileKind::layer_json);
    CHECK(parse::file_kind("{\"nodes\": [{\"id\": \"a\", \"op\": \"x\", \"group\": \"mlp\"}, ") == FileKind::layer_json);
    CHECK(parse::file_kind("{\"nodes\": [1]}") == FileKind::other_json);
    CHECK(parse::file_kind("{\"schemaVersion\": 1, \"traceEvents\": []}") == FileKind::kineto_json);
    CHECK(parse::file_kind("[1]") == FileKind::other_json);
    CHECK(parse::file_kind("SQLite format 3\0xx"s) == FileKind::sqlite);
    CHECK(parse::file_kind("\x1f\x8b\x08") == FileKind::gzip);
    CHECK(parse::file_kind("PK\x03\x04") == FileKind::zip);
    CHECK(parse::file_kind("\x7f"
                           "ELF\x02") == FileKind::elf);
    CHECK(parse::file_kind("\xff\xfe#\0 \0"s) == FileKind::utf16);
    CHECK(parse::file_kind("a\0b"s) == FileKind::binary);
    CHECK(parse::file_kind("import os\n") == FileKind::python);
    CHECK(parse::file_kind("<html>") == FileKind::markup);
    CHECK(parse::file_kind("hello\n") == FileKind::text);
    // A word in passing makes no dump.
    CHECK(parse::file_kind("see the line '# GraphModule: x'\n") == FileKind::text);
}

TEST_CASE("a parser says what a foreign file looks like, and who reads it") {
    const std::string fx = "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
    const auto message = [](graph_text::Parser parser, const std::string& text) {
        try {
            graph_text::read(parser, text);
        } catch (const Error& error) {
            return error.diagnostics().front().message + " | " + error.diagnostics().front().hint;
        }
        return "no error"s;
    };
    CHECK(message(&parse::parse_autodeploy, fx) ==
          "parse.autodeploy cannot read this file: it looks like a graph as GraphModule.print_readable() writes it | "
          "read it with parse.fx_readable, or let parse.auto choose");
    CHECK(message(&parse::parse_fx_readable, "# GraphModules found: 1\n") ==
          "parse.fx_readable cannot read this file: it looks like an AutoDeploy graph dump | "
          "read it with parse.autodeploy, or let parse.auto choose");
    CHECK(message(&parse::parse_torch_export, "hello") ==
          "parse.torch_export cannot read this file: it looks like a text of another kind | "
          "set AD_DUMP_GRAPHS_DIR for a run of TensorRT-LLM AutoDeploy to get graph dumps");
    CHECK(message(&parse::parse_auto, "") == "the file is empty | was the run that wrote it cut off?");
    CHECK(message(&parse::parse_auto, "\n") == "the file holds nothing but blanks | was the run that wrote it cut off?");
    CHECK(message(&parse::parse_auto, "\x1f\x8b\x08") ==
          "parse.auto cannot read this file: it looks like a gzip-compressed file | decompress it first: gunzip FILE");
}

TEST_CASE("parse.auto reads each form as its parser does") {
    const std::string fx = "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
    CHECK(graph_text::show(&parse::parse_auto, fx) == "P x\nR output 0<-x\n");
    const std::string exported = "ExportedProgram:\n" + fx + "Graph signature: \n    # inputs\n    x: BUFFER target='a.x'\n";
    CHECK(graph_text::show(&parse::parse_auto, exported) == "W x in a.x\nR output 0<-x\n");
    const std::string dump = "# GraphModules found: 1\n# GraphModule: m\n%x : 2 : torch.int8\noutput %x\n";
    CHECK(graph_text::show(&parse::parse_auto, dump) == "P x : 2 : torch.int8\nR output 0<-x\n");
}

TEST_CASE("UTF-8 is checked to the letter of the standard") {
    const auto faults = [](const std::string& text) {
        parse::Findings findings("t", text);
        parse::check_encoding(text, findings);
        return findings.errors();
    };
    for (const std::string good :
         {"plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
        CHECK(faults(good) == 0);
        CHECK(faults(std::string(50, 'x') + good) == 0);
    }
    for (const std::string bad : {"\x80", "\xc0\xaf", "\xc3", "\xc3(", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                  "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
        CHECK(faults(bad) == 1);
        CHECK(faults(std::string(50, 'x') + bad + "\n") == 1);
    }
    CHECK(faults("\x80\x80\n\x80\n") == 2);  // one a line
    CHECK(faults("\0\n"s) == 1);
    CHECK(faults(std::string(1000, '\x80') + std::string(100, '\n')) == 1);
}
