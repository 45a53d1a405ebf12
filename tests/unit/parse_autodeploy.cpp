#include "graph_text_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;

namespace {

constexpr auto parser = &parse::parse_autodeploy;

std::string module(const std::string& name, const std::string& lines) {
    const std::string rule(80, '=');
    return "\n" + rule + "\n# GraphModule: " + name + "\n" + rule + "\n\n" + lines;
}

std::string header(int modules) { return "# Transform: t\n# Stage: s\n# GraphModules found: " + std::to_string(modules) + "\n"; }

/// A dump of one module; lines begin in line 9.
std::string dump(const std::string& lines) { return header(1) + module("(root)", lines); }

std::string show(const std::string& lines) { return graph_text::show(parser, dump(lines)); }

std::string faults(const std::string& lines) { return graph_text::faults(parser, dump(lines)); }

}  // namespace

TEST_CASE("autodeploy: placeholders, calls, weights, output") {
    CHECK(show("%x : s72xs70 : torch.int64\n"
               "%y : ? : unknown\n"
               "%e = aten.embedding.default(%w : 1024x64 : torch.bfloat16, %x : s72xs70 : torch.int64) : s72xs70x64 : torch.bfloat16\n"
               "%n = aten.add.Tensor(%e : s72xs70x64 : torch.bfloat16, 1e-06) : s72xs70x64 : torch.bfloat16\n"
               "output %n, %y, %n\n") ==
          "P x : s72xs70 : torch.int64\n"
          "P y : ? : unknown\n"
          "W w : 1024x64 : torch.bfloat16\n"
          "O e = aten.embedding.default : s72xs70x64 : torch.bfloat16 0<-w 1<-x\n"
          "O n = aten.add.Tensor : s72xs70x64 : torch.bfloat16 0<-e 1=`1e-06`\n"
          "R output 0<-n 1<-y 2<-n\n");
}

TEST_CASE("autodeploy: a placeholder uses nothing, wherever it stands") {
    const std::string lines = "%x : 2 : torch.int8\n%a = f(%x : 2 : torch.int8, 3)\n%y : 2 : torch.int8\noutput %a, %y\n";
    const std::string shown = "P x : 2 : torch.int8\nO a = f 0<-x 1=`3`\nP y : 2 : torch.int8\nR output 0<-a 1<-y\n";
    CHECK(show(lines) == shown);
    CHECK(graph_text::show(parser, header(2) + module("a", lines) + module("b", lines), "all") == shown + shown);
}

TEST_CASE("autodeploy: targets") {
    CHECK(show("%x : 2 : torch.int64\n"
               "%a = <built-in function getitem>(%x : 2 : torch.int64, 0) : ? : N/A\n"
               "%b = <built-in method eq of type object at 0x7f1eb2acea40>(%a : ? : unknown, 0) : 8x8 : torch.bool\n"
               "%c = <function _insert_fused_gemm.<locals>.split_output at 0x7f00>(%b : 8x8 : torch.bool) : ? : N/A\n"
               "%d = submod_4(%c : ? : unknown)\n"
               "%e = <function <lambda> at 0x7f00>(%d : ? : unknown) : ? : N/A\n"
               "%f = functools.partial(<function g at 0x7f00>, n=1)(%e : ? : unknown) : ? : N/A\n"
               "%g = aten.zeros.default() : scalar : torch.float32\n"
               "%h = auto_deploy.mlir_fused_0a1b2c3d(%f : ? : unknown) : (2x4, 2x4) : (torch.bfloat16, torch.bfloat16)\n"
               "output %g\n") ==
          "P x : 2 : torch.int64\n"
          "O a = getitem : ? : N/A 0<-x 1=`0`\n"
          "O b = eq : 8x8 : torch.bool 0<-a 1=`0`\n"
          "O c = _insert_fused_gemm.<locals>.split_output : ? : N/A 0<-b\n"
          "O d = submod_4 0<-c\n"
          "O e = <lambda> : ? : N/A 0<-d\n"
          "O f = functools.partial(<function g at 0x7f00>, n=1) : ? : N/A 0<-e\n"
          "O g = aten.zeros.default : scalar : torch.float32\n"
          "O h = auto_deploy.mlir_fused_0a1b2c3d : (2x4, 2x4) : (torch.bfloat16, torch.bfloat16) 0<-f\n"
          "R output 0<-g\n");
}

TEST_CASE("autodeploy: shapes with brackets, commas, blanks, colons nowhere near") {
    const std::string odd = "s44xs70 + (Mod(16 - (Mod(s70, 16)), 16))x8xMin(16, s70)x(s44//4)";
    CHECK(show("%x : " + odd +
               " : torch.float32\n"
               "%a = aten.pad.default(%x : " +
               odd + " : torch.float32, [0, 0, 0, mod_1], constant, 0.0) : " + odd +
               " : torch.float32\n"
               "%b = aten.split.Tensor(%a : " +
               odd +
               " : torch.float32, 2) : (2x4x7168) : (torch.bfloat16)\n"
               "%c = aten.view.default(%b : ? : tuple, [-1]) : (s44//4)x256 : torch.bfloat16\n"
               "output %c\n") == "P x : " + odd +
                                     " : torch.float32\n"
                                     "W mod_1\n"
                                     "O a = aten.pad.default : " +
                                     odd +
                                     " : torch.float32 0<-x 1<-mod_1 1=`0` 1=`0` 1=`0` 2=`constant` 3=`0.0`\n"
                                     "O b = aten.split.Tensor : (2x4x7168) : (torch.bfloat16) 0<-a 1=`2`\n"
                                     "O c = aten.view.default : (s44//4)x256 : torch.bfloat16 0<-b 1=`[-1]`\n"
                                     "R output 0<-c\n");
}

TEST_CASE("autodeploy: bare words name vertices inside lists only") {
    CHECK(show("%x : 2 : torch.int64\n"
               "%bsnd : 2 : torch.int64\n"
               "%s44 = aten.sym_size.int(%x : 2 : torch.int64, 0) : ? : SymInt\n"
               "%a = auto_deploy.f(%x : 2 : torch.int64, None, True, inf, meta, cuda:0, torch.float32, bsnd, NCCL, colwise, "
               "9223372036854775807, [], [None, None, x], (s44, -1, 192), (-1,), [[w_1, x], [w_2]], [s99, torch.int32, inf, 1e-05])\n"
               "output %a\n") ==
          "P x : 2 : torch.int64\n"
          "P bsnd : 2 : torch.int64\n"
          "O s44 = aten.sym_size.int : ? : SymInt 0<-x 1=`0`\n"
          "W w_1\n"
          "W w_2\n"
          "O a = auto_deploy.f 0<-x 12<-x 13<-s44 15<-w_1 15<-x 15<-w_2 1=`None` 2=`True` 3=`inf` 4=`meta` 5=`cuda:0` 6=`torch.float32` "
          "7=`bsnd` 8=`NCCL` 9=`colwise` 10=`9223372036854775807` 11=`[]` 12=`None` 12=`None` 13=`-1` 13=`192` 14=`(-1,)` "
          "16=`[s99, torch.int32, inf, 1e-05]`\n"
          "R output 0<-a\n");
}

TEST_CASE("autodeploy: text, slices and objects as arguments") {
    CHECK(show("%x : 2 : torch.int64\n"
               "%a = aten.einsum.default(bcln,bcsn->bcls, [x, x], slice(None, x, None), device(type='cuda', index=0), (b h) n -> b h n, "
               "['a, (b', \"it's\"], [device(type='meta'), x], {'k': x}, <Mode.NCCL: 1>, [<Mode.A: 0>])\n"
               "output %a\n") ==
          "P x : 2 : torch.int64\n"
          "O a = aten.einsum.default 1<-x 1<-x 2<-x 6<-x 7<-x 0=`bcln,bcsn->bcls` 2=`None` 2=`None` 3=`device(type='cuda', index=0)` "
          "4=`(b h) n -> b h n` 5=`['a, (b', \"it's\"]` 6=`device(type='meta')` 7=`'k'` 8=`<Mode.NCCL: 1>` 9=`[<Mode.A: 0>]`\n"
          "R output 0<-a\n");
}

TEST_CASE("autodeploy: a weight gets its type from the use that prints one") {
    CHECK(show("%a = f([w])\n%b = g(%w : ? : unknown)\n%c = h(%w : 8x8 : torch.bfloat16)\n%d = h(%w : 9x9 : torch.int8)\noutput %c\n") ==
          "W w : 8x8 : torch.bfloat16\n"
          "O a = f 0<-w\n"
          "O b = g 0<-w\n"
          "O c = h 0<-w\n"
          "O d = h 0<-w\n"
          "R output 0<-c\n");
}

TEST_CASE("autodeploy: in-place ops make memory edges") {
    CHECK(show("%x : 2 : torch.int64\n"
               "%y : 2 : torch.int64\n"
               "%f = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(%x : 2 : torch.int64, %y : 2 : torch.int64) : ? : NoneType\n"
               "%a = aten.mul.Tensor(%x : 2 : torch.int64, %y : 2 : torch.int64) : 2 : torch.int64\n"
               "output %a\n") ==
          "P x : 2 : torch.int64\n"
          "P y : 2 : torch.int64\n"
          "O f = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default : ? : NoneType 0<-x 1<-y\n"
          "O a = aten.mul.Tensor : 2 : torch.int64 0<-x 1<-y 0<-~f 1<-~f\n"
          "R output 0<-a\n");
}

TEST_CASE("autodeploy: which module is read") {
    const std::string small = "%a = f() : 2 : torch.int8\noutput %a\n";
    const std::string large = "%a = f() : 2 : torch.int8\n%b = f() : 2 : torch.int8\noutput %b\n";
    const auto name = [](const std::string& text, const std::string& wanted) {
        std::string names;
        const auto graph = graph_text::read(parser, text, wanted).graph;
        for (const GraphModule& m : graph->modules()) names += m.name + ";";
        return names;
    };
    const std::string compiled = header(3) + module("piecewise.split_gm", large) + module("monolithic.model", small) +
                                 module("x.submod_0", large);
    CHECK(name(compiled, "auto") == "monolithic.model;");
    CHECK(name(compiled, "x.submod_0") == "x.submod_0;");
    CHECK(name(compiled, "all") == "piecewise.split_gm;monolithic.model;x.submod_0;");
    const std::string two = header(2) + module("target_model", small) + module("draft_model", large);
    CHECK(name(two, "auto") == "draft_model;");
    const std::string eagle = header(3) + module("x.big", large + "\n\n\n\n") + module("d.monolithic.model", small) +
                              module("t.monolithic.model", large);
    CHECK(name(eagle, "auto") == "t.monolithic.model;");

    const parse::Parsed all = graph_text::read(parser, compiled, "all");
    CHECK(all.graph->size() == 8);
    CHECK(all.graph->modules()[1].begin == 3);
    CHECK(all.graph->modules()[1].end == 5);
    CHECK(all.graph->modules()[1].line == 14);
    CHECK(all.graph->vertex(3).line == 17);
    CHECK(graph_text::faults(parser, compiled, "monolitic.model") ==
          "ADP-TXT-005 no module \"monolitic.model\" in this file; it has piecewise.split_gm, monolithic.model, x.submod_0\n");
    const std::string same = header(2) + module("m", small) + module("m", small);
    CHECK(graph_text::faults(parser, same, "m") == "ADP-TXT-006 13:1 (no error) module \"m\" is there 2 times; the first is read\n");
}

TEST_CASE("autodeploy: CRLF, a byte order mark, no newline at the end") {
    const std::string text = dump("%x : 2 : torch.int64\n%a = f(%x : 2 : torch.int64)\noutput %a");
    std::string crlf = "\xef\xbb\xbf";
    for (const char c : text) crlf += c == '\n' ? std::string{"\r\n"} : std::string{c};
    CHECK(graph_text::show(parser, crlf) == graph_text::show(parser, text));
    CHECK(graph_text::faults(parser, crlf).empty());
}

TEST_CASE("autodeploy: an op may be called output") {
    CHECK(show("%output = f() : 2 : torch.int8\noutput %output\n") == "O output = f : 2 : torch.int8\nR output_1 0<-output\n");
}

TEST_CASE("autodeploy: a line that is not understood") {
    CHECK(faults("%x : 2 : torch.int64\nhello\noutput %x\n") == "ADP-AD-001 10:1 this line is not understood: \"hello\"\n");
    CHECK(faults("%x 2\noutput\n") == "ADP-AD-001 9:3 \" = \" or \" : \" is wanted after the name %x\n");
    CHECK(faults("% = f()\noutput\n") == "ADP-AD-001 9:2 a name is wanted after '%'\n");
    CHECK(faults("%x = %y\noutput\n") == "ADP-AD-001 9:6 a call, target(arguments), is wanted after \" = \"\n");
    CHECK(faults("%x = f(%)\noutput\n") == "ADP-AD-001 9:8 a name is wanted after '%'\n");
}

TEST_CASE("autodeploy: brackets that do not fit") {
    CHECK(faults("%x = f([a, b)\noutput\n") == "ADP-AD-002 9:13 this bracket closes one of another kind\n");
    CHECK(faults("%x = f([a, b\noutput\n") == "ADP-AD-002 9:8 this bracket is never closed\n");
    CHECK(faults("%x = f(1, 2\noutput\n") == "ADP-AD-002 9:7 this argument list is never closed; the line is cut off\n");
    CHECK(faults("%x = f(['a)\noutput\n") == "ADP-AD-002 9:9 this quote is never closed\n");
    CHECK(faults("%x = <function f(1)\noutput\n") == "ADP-AD-002 9:6 this '<' is never closed\n");
    CHECK(faults("%x = f(%w] 1)\noutput\n") == "ADP-AD-002 9:10 a comma or the end of the arguments is wanted here: \"] 1)\"\n");
    const std::string deep(100000, '[');
    CHECK(faults("%x = f(" + deep + ")\noutput\n") == "ADP-AD-002 9:208 brackets nested too deep\n");
}

TEST_CASE("autodeploy: types that are not understood") {
    CHECK(faults("%x : 2\noutput %x\n") == "ADP-AD-003 9:3 a type, \" : shape : dtype\", is wanted here: \" : 2\"\n");
    CHECK(faults("%x = f(1) : 2x\noutput %x\n") == "ADP-AD-003 9:10 a type, \" : shape : dtype\", is wanted here: \" : 2x\"\n");
    CHECK(faults("%x = f(1) junk\noutput %x\n") == "ADP-AD-003 9:10 a type, \" : shape : dtype\", is wanted here: \" junk\"\n");
    CHECK(faults("%x = f(1) : 2)x3 : torch.int8\noutput %x\n") == "ADP-AD-003 9:13 the shape is not understood: \"2)x3 : torch.int8\"\n");
    CHECK(faults("%x = f(1) : 2 : torch.int8 %y : 3\noutput %x\n") ==
          "ADP-AD-003 9:17 the dtype is not understood: \"torch.int8 %y : 3\"\n");
    CHECK(faults("%x = f(%w : 2)\noutput %x\n") == "ADP-AD-003 9:13 a type, \"shape : dtype\", is wanted here: \"2)\"\n");
}

TEST_CASE("autodeploy: a name defined twice, or used before its line") {
    CHECK(faults("%x = f() : 2 : torch.int8\n%x = g() : 2 : torch.int8\noutput %x\n") ==
          "ADP-AD-004 10:2 %x is defined twice; first in line 9\n");
    CHECK(faults("%x : 2 : torch.int8\n%x : 2 : torch.int8\noutput %x\n") == "ADP-AD-004 10:2 %x is defined twice; first in line 9\n");
    CHECK(faults("%a = f(%b : 2 : torch.int8)\n%b = g() : 2 : torch.int8\noutput %a\n") ==
          "ADP-AD-005 10:2 %b is used in line 9, before this line defines it\n");
    CHECK(faults("%a = f([b])\n%b = g() : 2 : torch.int8\noutput %a\n") ==
          "ADP-AD-005 10:2 %b is used in line 9, before this line defines it\n");
}

TEST_CASE("autodeploy: a name that no line defines and that is no weight") {
    CHECK(faults("%a = f(%b : s70x4 : torch.int8)\noutput %a\n") ==
          "ADP-AD-006 9:9 %b is used, but no line defines it, and its type says that it is no weight: s70x4 : torch.int8\n");
    CHECK(faults("%a = f(%b : ? : tuple)\noutput %a\n") ==
          "ADP-AD-006 9:9 %b is used, but no line defines it, and its type says that it is no weight: ? : tuple\n");
    CHECK(faults("%a = f() : 2 : torch.int8\noutput %b\n") == "ADP-AD-006 10:1 the output line names %b, which no line defines\n");
    CHECK(faults("%getitem_3 = <built-in function getitem>(%w : 2 : torch.int8, 0) : 2 : torch.int8\n"
                 "%b = f(%getitem_4 : 2 : torch.int8, %norm_weight_1 : 2 : torch.int8)\noutput %b\n") ==
          "ADP-AD-012 10:9 (no error) %getitem_4 is taken for a weight since no line defines it, but it is named like an op\n");
}

TEST_CASE("autodeploy: a dump that is cut off or mixed") {
    CHECK(faults("%a = f() : 2 : torch.int8\n") == "ADP-AD-007 6:1 module (root) has no output line: the dump is cut off\n");
    CHECK(faults("%a = f() : 2 : torch.int8\noutput %a\n%b = f() : 2 : torch.int8\n") ==
          "ADP-AD-009 11:1 a line after the output line of module (root)\n");
    CHECK(faults("\n") == "ADP-AD-010 6:1 module (root) holds no graph\n");
    CHECK(graph_text::faults(parser, header(1)) ==
          "ADP-AD-008 3:1 the header says that 1 GraphModules follow, but 0 do\nADP-AD-010 the dump holds no GraphModule\n");
    const std::string one = module("(root)", "%a = f() : 2 : torch.int8\noutput %a\n");
    CHECK(graph_text::faults(parser, header(3) + one) == "ADP-AD-008 3:1 the header says that 3 GraphModules follow, but 1 does\n");
    CHECK(graph_text::faults(parser, header(3) + one, "(root)") ==
          "ADP-AD-008 3:1 (no error) the header says that 3 GraphModules follow, but 1 does\n");
    CHECK(graph_text::faults(parser, header(1) + one + one) ==
          "ADP-AD-008 3:1 (no error) the header says that 1 GraphModules follow, but 2 do\n");
    CHECK(graph_text::faults(parser, "# GraphModules found: many\n" + one) ==
          "ADP-AD-008 1:23 the header's count of modules is no number: \"many\"\n");
    CHECK(graph_text::faults(parser, header(1) + "junk\n" + one) ==
          "ADP-AD-001 4:1 text before the first \"# GraphModule:\" line is not understood\n");
    CHECK(faults("# by hand\n%a = f() : 2 : torch.int8\n# again\noutput %a\n") ==
          "ADP-AD-011 9:1 (no error) comment lines inside a module are not read; this is the first\n");
}

TEST_CASE("autodeploy: at most 20 errors are shown, and the rest counted") {
    std::string lines;
    for (int i = 0; i < 1000; ++i) lines += "bad\n";
    try {
        graph_text::read(parser, dump(lines + "output\n"));
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.diagnostics().size() == 20);
        CHECK(error.diagnostics().back().notes == std::vector<std::string>{"and 980 more errors in this file"});
    }
}

TEST_CASE("autodeploy: damaged bytes") {
    CHECK(faults("%a = f(\xff) : 2 : torch.int8\noutput %a\n") == "ADP-TXT-004 9:8 invalid UTF-8\n");
    CHECK(faults(std::string("%a = f(\0) : 2 : torch.int8\noutput %a\n", 37)).substr(0, 16) == "ADP-TXT-003 9:8 ");
    CHECK(faults("%a = f(\xc3\xa4) : 2 : torch.int8\noutput %a\n").empty());
}

TEST_CASE("autodeploy: a long line costs no more than its length") {
    std::string list = "%a = f([";
    for (int i = 0; i < 200000; ++i) list += "model_layers_" + std::to_string(i) + "_w, ";
    list += "x])\noutput %a\n";
    const parse::Parsed parsed = graph_text::read(parser, dump("%x : 2 : torch.int8\n" + list));
    CHECK(parsed.graph->size() == 200003);
    CHECK(parsed.graph->inputs(*parsed.graph->find("a")).size() == 200001);
    // The place of a fault far to the right is still exact; the line itself is not shown.
    const std::string far = "%a = f(" + std::string(300000, 'x') + "\noutput\n";
    CHECK(faults(far) == "ADP-AD-002 9:7 this argument list is never closed; the line is cut off\n");
}

TEST_CASE("autodeploy: the summary says what was read and why") {
    CHECK(graph_text::read(parser, dump("%a = f(%w : 2 : torch.int8)\noutput %a\n")).summary ==
          "module (root) (the only one): 1 op, 1 weight");
    const std::string small = "%a = f() : 2 : torch.int8\noutput %a\n";
    const std::string two = header(2) + module("a", small) + module("monolithic.model", small);
    CHECK(graph_text::read(parser, two).summary == "module monolithic.model (the whole model of 2): 1 op, 0 weights");
    CHECK(graph_text::read(parser, two, "all").summary == "all 2 modules: 2 ops, 0 weights");
    CHECK(graph_text::read(parser, two).graph->may_lack_edges());
}
