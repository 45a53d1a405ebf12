#include "graph_text_support.hpp"

#include "parse_text/fx_paths.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;

namespace {

constexpr auto readable = &parse::parse_fx_readable;
constexpr auto exported = &parse::parse_torch_export;

/// A class whose forward takes `signature`; the lines begin in line 3.
std::string graph(const std::string& signature, const std::string& lines) {
    return "class GraphModule(torch.nn.Module):\n    def forward(self, " + signature + "):\n" + lines;
}

std::string show(const std::string& signature, const std::string& lines) { return graph_text::show(readable, graph(signature, lines)); }

std::string faults(const std::string& signature, const std::string& lines) { return graph_text::faults(readable, graph(signature, lines)); }

}  // namespace

TEST_CASE("fx: arguments, weights, calls, freed values, return") {
    CHECK(show("x: \"i64[s44]\", y: \"Sym(s44)\", z",
               "        w: \"bf16[64, 8][8, 1]meta\" = getattr(self.model.layers, \"0\").mlp.weight\n"
               "        e: \"bf16[s44, s70, Min(8, s70)]cuda:0\" = torch.ops.aten.embedding.default(w, x, 0);  w = x = None\n"
               "        return (e, None, z)\n") ==
          "P x : s44 : torch.int64\n"
          "P y : ? : SymInt\n"
          "P z\n"
          "W w : 64x8 : torch.bfloat16 in model.layers.0.mlp.weight\n"
          "O e = aten.embedding.default : s44xs70xMin(8, s70) : torch.bfloat16 0<-w 1<-x 2=`0`\n"
          "R output 0<-e 2<-z 1=`None`\n");
}

TEST_CASE("fx: arguments that pytree unpacks") {
    CHECK(show("batch, scale",
               "        a: \"i64[2]\"; b: \"f32[]\"; \n\n"
               "        a, b, = fx_pytree.tree_flatten_spec(([batch, scale], {}), self._in_spec)\n"
               "        c: \"f32[2]\" = torch.ops.aten.mul.Tensor(a, b);  a = b = None\n"
               "        return pytree.tree_unflatten([c], self._out_spec)\n") ==
          "P a : 2 : torch.int64\n"
          "P b : scalar : torch.float32\n"
          "O c = aten.mul.Tensor : 2 : torch.float32 0<-a 1<-b\n"
          "R output 0<-c\n");
    CHECK(show("*args", "        a, = fx_pytree.tree_flatten_spec(args, self._in_spec)\n        return a\n") == "P a\nR output 0<-a\n");
}

TEST_CASE("fx: every form of an expression") {
    CHECK(show("x, y, s0",
               "        a = x + 2\n        b = 2 * s0;  s0 = None\n        c = -a\n        d = a // b\n        e = x[0]\n"
               "        f = y[(slice(None, b, None), 0)]\n        g = x.view(-1, 8)\n        h = x.shape\n"
               "        i = self.layers_0(x, y)\n        j = getattr(self.layers, \"0\")(x)\n"
               "        k = torch.nn.functional.silu(x, inplace = False)\n        l = torch.ops.aten.cat.default([x, y], -1)\n"
               "        m = a == b\n        n = operator.getitem(k, 1)\n        o = n['out_ptr']\n        return o\n") ==
          "P x\n"
          "P y\n"
          "P s0\n"
          "O a = add 0<-x 1=`2`\n"
          "O b = mul 1<-s0 0=`2`\n"
          "O c = neg 0<-a\n"
          "O d = floordiv 0<-a 1<-b\n"
          "O e = getitem 0<-x 1=`0`\n"
          "O f = getitem 0<-y 1<-b 1=`None` 1=`None` 1=`0`\n"
          "O g = view 0<-x 1=`-1` 2=`8`\n"
          "O h = getattr 0<-x 1=`shape`\n"
          "O i = self.layers_0 0<-x 1<-y\n"
          "O j = getattr(self.layers, \"0\") 0<-x\n"
          "O k = torch.nn.functional.silu 0<-x 1=`inplace = False`\n"
          "O l = aten.cat.default 0<-x 0<-y 1=`-1`\n"
          "O m = eq 0<-a 1<-b\n"
          "O n = getitem 0<-k 1=`1`\n"
          "O o = getitem 0<-n 1=`'out_ptr'`\n"
          "R output 0<-o\n");
}

TEST_CASE("fx: keywords, objects, higher-order ops") {
    CHECK(
        show(
            "x, y",
            "        a = torch.ops.aten.empty.memory_format([8, 8960], dtype = torch.bfloat16, device = device(type='cuda', index=0))\n"
            "        b = torch.ops.higher_order.auto_functionalized(torch.ops._C.rms_norm.default, result = a, input = x, epsilon = 1e-06, "
            "name = 'a, b; c')\n"
            "        c = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, grid = [(256, 1, 1)], kwargs = {'in': x, "
            "'out': y})\n"
            "        return (b, c)\n") ==
        "P x\n"
        "P y\n"
        "O a = aten.empty.memory_format 0=`[8, 8960]` 1=`dtype = torch.bfloat16` 2=`device = device(type='cuda', index=0)`\n"
        "O b = higher_order.auto_functionalized 1<-a 2<-x 0=`torch.ops._C.rms_norm.default` 3=`epsilon = 1e-06` 4=`name = 'a, b; c'`\n"
        "O c = higher_order.triton_kernel_wrapper_functional 2<-x 2<-y 0=`kernel_idx = 0` 1=`grid = [(256, 1, 1)]` 2=`'in'` 2=`'out'`\n"
        "R output 0<-b 1<-c\n");
}

TEST_CASE("fx: in-place statements, and second names") {
    CHECK(show("L_x_: \"f32[2]\", L_self_modules_layers_modules_3_modules_mlp_parameters_weight_: \"f32[2]\"",
               "        l_x_ = L_x_\n"
               "        l_w = L_self_modules_layers_modules_3_modules_mlp_parameters_weight_\n"
               "        a: \"f32[2]\" = l_x_ * l_w\n"
               "        a += 1;  iadd: \"f32[2]\" = a\n"
               "        a[0] = l_x_;  setitem = a;  a = setitem = None\n"
               "        b = torch.sin(iadd)\n"
               "        return (b,)\n") ==
          "P L_x_ : 2 : torch.float32\n"
          "W L_self_modules_layers_modules_3_modules_mlp_parameters_weight_ : 2 : torch.float32 in layers.3.mlp.weight\n"
          "O a = mul : 2 : torch.float32 0<-L_x_ 1<-L_self_modules_layers_modules_3_modules_mlp_parameters_weight_\n"
          "O iadd = iadd : 2 : torch.float32 0<-a 1=`1`\n"
          "O setitem = setitem 0<-a 2<-L_x_ 0<-~iadd 1=`[0]`\n"
          "O b = torch.sin 0<-iadd\n"
          "R output 0<-b\n");
}

TEST_CASE("fx: module paths come from comments, up to the next comment") {
    CHECK(
        show(
            "x",
            "        # nn_module_stack: {'L__self__': ('', 'a.B'), 'L__self__layers.0': ('layers.0', \"c.'D\")} # File: f.py:3 in forward, "
            "code: x\n"
            "        a = torch.sin(x)\n        b = torch.sin(a)\n"
            "        # File: f.py:4 in forward, code: y = \"a\n        c = torch.sin(b)\n"
            "        # nn_module_stack: {'L__self__': ('', 'a.B')} # No stacktrace found for following nodes\n        d = torch.sin(c)\n"
            "        # nn_module_stack: {'_empty_nn_module_stack_from_metadata_hook': ('_empty_nn_module_stack_from_metadata_hook', 'x')}\n"
            "        e = torch.sin(d)\n        return e\n") ==
        "P x\n"
        "O a = torch.sin in layers.0 0<-x\n"
        "O b = torch.sin in layers.0 0<-a\n"
        "O c = torch.sin 0<-b\n"
        "O d = torch.sin 0<-c\n"
        "O e = torch.sin 0<-d\n"
        "R output 0<-e\n");
}

TEST_CASE("fx: a signature over several lines, with comments that name weights") {
    CHECK(graph_text::show(readable,
                           "class <lambda>(torch.nn.Module):\n    def forward(\n        self,\n"
                           "        primals_1: \"bf16[8, 8][8, 1]cuda:0\",  # ParamAOTInput(target='layers.0.w')\n"
                           "        primals_2: \"bf16[8][1]cuda:0\",  # PlainAOTInput(idx=0)\n"
                           "    ):\n        a = torch.ops.aten.mm.default(primals_2, primals_1)\n        return (a,)\n") ==
          "W primals_1 : 8x8 : torch.bfloat16 in layers.0.w\n"
          "P primals_2 : 8 : torch.bfloat16\n"
          "O a = aten.mm.default 0<-primals_2 1<-primals_1\n"
          "R output 0<-a\n");
}

TEST_CASE("fx: several classes, classes in classes, and the lines of a log") {
    const std::string text =
        "import torch\nfrom torch import device\n\nbf16: type\n\n# Graph[rank=0]\n"
        "class <lambda>(torch.nn.Module):\n    def forward(self, x):\n        true_graph_0 = self.true_graph_0\n"
        "        a = torch.ops.higher_order.cond(x, true_graph_0, [x])\n        return (a,)\n\n"
        "    class true_graph_0(torch.nn.Module):\n        def forward(self, y):\n            b = torch.sin(y)\n            return (b,)\n";
    CHECK(graph_text::show(readable, text) ==
          "P x\nO true_graph_0 = self.true_graph_0\nO a = higher_order.cond 0<-x 1<-true_graph_0 2<-x\nR output 0<-a\n");
    CHECK(graph_text::show(readable, text, "(root).true_graph_0") == "P y\nO b = torch.sin 0<-y\nR output 0<-b\n");
    CHECK(graph_text::read(readable, text, "all").graph->modules().size() == 2);

    const std::string prefix = "V0606 12:00:00.123000 1 torch/_dynamo/output_graph.py:1353] [0/0] [__graph_code] ";
    std::string log;
    for (const std::string line :
         {"TRACED GRAPH", " ===== __compiled_fn_1 =====", " /p/x.py class GraphModule(torch.nn.Module):",
          "    def forward(self, L_x_: \"f32[2]\"):", "        l_x_ = L_x_", "", "         # File: a.py:1 in f, code: x",
          "        a: \"f32[2]\" = torch.sin(l_x_);  l_x_ = None", "        return (a,)", ""}) {
        log += prefix + line + "\n";
    }
    CHECK(graph_text::show(readable, log + log, "GraphModule#2") ==
          "P L_x_ : 2 : torch.float32\nO a = torch.sin : 2 : torch.float32 0<-L_x_\nR output 0<-a\n");
}

TEST_CASE("fx: str(ExportedProgram) says in its signature what the weights are") {
    const std::string body =
        "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
        "        def forward(self, p_w: \"bf16[8, 8]\", b_m_f: \"f32[8]\", c_k: \"f32[]\", p_x: \"i64[2]\"):\n"
        "            # File: a.py:1 in forward, code: return F.embedding(\n"
        "            e: \"bf16[2, 8]\" = torch.ops.aten.embedding.default(p_w, p_x);  p_w = p_x = None\n"
        "            return (e,)\n            \n";
    const std::string shown =
        "W p_w : 8x8 : torch.bfloat16 in m.w\n"
        "W b_m_f : 8 : torch.float32 in m.f\n"
        "W c_k : scalar : torch.float32 in k\n"
        "P p_x : 2 : torch.int64\n"
        "O e = aten.embedding.default : 2x8 : torch.bfloat16 0<-p_w 1<-p_x\n"
        "R output 0<-e\n";
    CHECK(graph_text::show(
              exported,
              body + "Graph signature: \n    # inputs\n    p_w: PARAMETER target='m.w'\n"
                     "    b_m_f: BUFFER target='m.f' persistent=False\n    c_k: CONSTANT_TENSOR target='k'\n"
                     "    p_x: USER_INPUT\n    \n    # outputs\n    e: USER_OUTPUT\n    \nRange constraints: {s44: VR[2, int_oo]}\n") ==
          shown);
    CHECK(graph_text::show(
              exported,
              body + "Graph signature: ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.PARAMETER: 2>, "
                     "arg=TensorArgument(name='p_w'), target='m.w', persistent=None), InputSpec(kind=<InputKind.BUFFER: 3>, "
                     "arg=TensorArgument(name='b_m_f'), target='m.f', persistent=True), InputSpec(kind=<InputKind.CONSTANT_TENSOR: 4>, "
                     "arg=TensorArgument(name='c_k'), target='k', persistent=None), InputSpec(kind=<InputKind.USER_INPUT: 1>, "
                     "arg=TensorArgument(name='p_x'), target=None, persistent=None)], "
                     "output_specs=[OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, "
                     "arg=TensorArgument(name='e'), target=None)])\nRange constraints: {}\n") == shown);
    CHECK(graph_text::faults(exported, body) == "ADP-FX-008 the text has no \"Graph signature:\" part, which says what the weights are\n");
}

TEST_CASE("fx: faults") {
    CHECK(faults("x", "        a = torch.sin(y)\n        return a\n") == "ADP-FX-004 3:23 no line before this one defines y\n");
    CHECK(faults("x", "        a = y\n        return x\n") == "ADP-FX-004 3:13 no line before this one defines y\n");
    CHECK(faults("x", "        a = torch.sin(x);  y = None\n        return a\n") == "ADP-FX-004 3:28 no line before this one defines y\n");
    CHECK(faults("x", "        a = torch.sin(x)\n        a = torch.cos(x)\n        return a\n") ==
          "ADP-FX-003 4:9 a is defined twice; first in line 3\n");
    CHECK(faults("x", "        hello world\n        return x\n") == "ADP-FX-001 3:9 this statement is not understood: \"hello world\"\n");
    CHECK(faults("x", "        a = x ! x\n        return x\n") == "ADP-FX-001 3:13 this expression is not understood: \"x ! x\"\n");
    CHECK(faults("x", "        a = torch.sin(x)[0]\n        return x\n") ==
          "ADP-FX-001 3:13 this call is not understood: \"torch.sin(x)[0]\"\n");
    CHECK(faults("x", "        a = torch.sin(x\n        return x\n") ==
          "ADP-FX-002 3:22 this bracket or quote is never closed; the text is cut off\n");
    CHECK(faults("x", "        a = torch.sin('x)\n        return x\n") ==
          "ADP-FX-002 3:22 this bracket or quote is never closed; the text is cut off\n");
    CHECK(faults("x", "        a = torch.sin(x)\n") == "ADP-FX-005 1:1 module (root) has no return: the text is cut off\n");
    CHECK(faults("x", "        return x\n        a = torch.sin(x)\n") ==
          "ADP-FX-009 4:9 (no error) text after the return of module (root) is not read\n");
    CHECK(graph_text::faults(readable, "class A(torch.nn.Module):\n    x = 1\n") ==
          "ADP-FX-001 2:5 \"def forward(self, …):\" is wanted here: \"x = 1\"\n");
    CHECK(graph_text::faults(readable, "class A(torch.nn.Module):\n") ==
          "ADP-FX-005 1:1 module (root) has no return: the text is cut off\n");
    CHECK(graph_text::faults(readable, "class A(torch.nn.Module):\n    def forward(self):\n        return ()\n") ==
          "ADP-FX-006 1:1 (no error) module (root) holds no op and takes no argument\n");
    CHECK(graph_text::faults(readable, graph("x", "        a = torch.sin(x)\n        return a\n"), "root") ==
          "ADP-TXT-005 no module \"root\" in this file; it has (root)\n");
}

TEST_CASE("fx: paths") {
    std::string path;
    std::size_t end = 0;
    CHECK(parse::read_self_path("self.model.norm.weight", path, end));
    CHECK(path == "model.norm.weight");
    CHECK(parse::read_self_path("getattr(getattr(self.encoder.block, \"0\").layer, \"1\").q.weight", path, end));
    CHECK(path == "encoder.block.0.layer.1.q.weight");
    CHECK(parse::read_self_path("getattr(self, \"0\")", path, end));
    CHECK(path == "0");
    for (const char* other : {"selfish.x", "getattr(x, \"0\")", "getattr(self.a, \"0\"", "getattr(self.a, 0)", "self.", "x"}) {
        CHECK_FALSE(parse::read_self_path(other, path, end));
    }
    CHECK(parse::lifted_weight_path("L_self_modules_model_modules_layers_modules_10_parameters_q_proj_weight_") ==
          "model.layers.10.q_proj_weight");
    CHECK(parse::lifted_weight_path("L_self_buffers_freq_") == "freq");
    CHECK(parse::lifted_weight_path("L_args_0_modules_model_modules_layers_modules_3_modules_mlp_parameters_weight_") ==
          "model.layers.3.mlp.weight");
    CHECK(parse::lifted_weight_path("L_my_model_modules_layers_modules_0_parameters_w_") == "layers.0.w");
    CHECK(parse::lifted_weight_path("L_x_").empty());
}
