#include <adpipe/render/kernel_name.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/op_facts.hpp>
#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::render;

TEST_CASE("durations have three digits and the unit that fits") {
    CHECK(duration_text(0) == "0 ns");
    CHECK(duration_text(7) == "7 ns");
    CHECK(duration_text(999) == "999 ns");
    CHECK(duration_text(1000) == "1.00 µs");
    CHECK(duration_text(9994) == "9.99 µs");
    CHECK(duration_text(9995) == "10.0 µs");
    CHECK(duration_text(18940) == "18.9 µs");
    CHECK(duration_text(99950) == "100 µs");
    CHECK(duration_text(999499) == "999 µs");
    CHECK(duration_text(999500) == "1.00 ms");
    CHECK(duration_text(2500000000) == "2.50 s");
    CHECK(duration_text(7200000000000) == "7\u202f200 s");
    CHECK(duration_text(-18940) == "-18.9 µs");
}

TEST_CASE("plain numbers have three digits, thousands apart") {
    CHECK(three_digits(0) == "0");
    CHECK(three_digits(0.001234) == "0.00123");
    CHECK(three_digits(1.0) == "1.00");
    CHECK(three_digits(9.999) == "10.0");
    CHECK(three_digits(12345.6) == "12\u202f300");
    CHECK(three_digits(1e7) == "10\u202f000\u202f000");
    CHECK(three_digits(-2.5) == "-2.50");
    CHECK(three_digits(1.0 / 0.0) == "-");
    CHECK(count_text(999) == "999");
    CHECK(count_text(18514) == "18\u202f514");
    CHECK(count_text(1, "kernel") == "1 kernel");
    CHECK(count_text(0, "kernel") == "0 kernels");
}

TEST_CASE("shares never claim more than they know") {
    CHECK(percent_text(0, 10) == "0 %");
    CHECK(percent_text(10, 10) == "100 %");
    CHECK(percent_text(1, 3) == "33.3 %");
    CHECK(percent_text(1, 100000) == "<0.1 %");
    CHECK(percent_text(1, 0) == "-");
}

TEST_CASE("kernel names are cut to what an engineer calls them") {
    const auto check = [](const char* full, const char* short_name) { CHECK(short_kernel_name(full) == short_name); };
    check("void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, (unsigned int)7168>(T1 *, int)", "sm90_fp8_gemm_1d2d_impl");
    check("nvjet_tst_64x8_64x16_2x1_v_bz_TNT", "nvjet_tst_64x8_64x16_2x1_v_bz_TNT");
    check("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    check("bmm_E4m3_E4m3E4m3_Fp32_t128x8x128u2_s8_et64x8_m64x8x32_c1x1x1_rM_TN", "bmm_E4m3_E4m3E4m3_Fp32_t128x8x128");
    check("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x256_MI16x16x1_SN",
          "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x256");
    check("fused_kernel_a5fe0123456789abcdef0123456789abcdef", "fused_kernel_a5fe0123");
    check("tensorrt_llm::kernels::mergeExpertPrefixSumKernel(const int *, long)", "mergeExpertPrefixSumKernel");
    check("void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(const float &))>(T1 *, const T1 *, int)",
          "act_and_mul_kernel");
}

TEST_CASE("wrappers are named by what they wrap") {
    const auto check = [](const char* full, const char* short_name) { CHECK(short_kernel_name(full) == short_name); };
    check("void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char *, 3>>(int)",
          "elementwise add");
    check(
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<long, long, long, "
        "at::native::minimum_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 1)]>, std::array<char*, 3>>(int)",
        "elementwise minimum");
    check(
        "void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const c10::Scalar &)::[lambda() "
        "(instance 1)]>(T1, T2)",
        "elementwise arange");
    check("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int>>(T3)",
          "reduce arg_max");
    check("void at::native::vectorized_elementwise_kernel<4, std::plus<int>>(int)", "vectorized_elementwise_kernel");
    check("void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::Mainloop<128>, true>>(flash::Params)", "FlashAttnFwdSm90");
    check("_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalINS1_17GroupProblemShapeIN4cute5tuple", "GemmUniversal");
    check("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_", "add_rmsnorm_quant_kernel");
    check("_Z8copy_allPfS_i.kd", "copy_all");
}

TEST_CASE("names that are no names stay what they are") {
    CHECK(short_kernel_name("").empty());
    CHECK(short_kernel_name("void") == "void");
    CHECK(short_kernel_name("_Z99999999999999999999999999") == "_Z99999999");
    CHECK(short_kernel_name("a<b<c<d((((") == "a");
    const std::string umlauts = short_kernel_name(std::string(59, 'x').append("äöü"));
    CHECK(umlauts == std::string(59, 'x'));
}

TEST_CASE("ops have one short name") {
    CHECK(bare_op("aten.add.Tensor") == "add");
    CHECK(bare_op("auto_deploy.flashinfer_rope") == "flashinfer_rope");
    CHECK(bare_op("getitem") == "getitem");
    CHECK(bare_op("torch.ops.aten.view.default") == "view");
    CHECK(bare_op("torch.nn.functional.linear") == "linear");
    CHECK(bare_op("_insert_fused_gemm.<locals>.split_output") == "split_output");
}

TEST_CASE("weights are called by their role in the layer") {
    CHECK(weight_role("model_layers_5_self_attn_q_a_proj_weight", 5) == "q_a_proj");
    CHECK(weight_role("model.layers.5.mlp.gate.weight", 5) == "gate");
    CHECK(weight_role("transformer_h_0_attn_c_attn_weight", 0) == "c_attn");
    CHECK(weight_role("model_layers_5_input_layernorm_weight", 5) == "input_layernorm");
    CHECK(weight_role("fused_weight_5_up", 5) == "fused_weight_5_up");
    CHECK(weight_role("model_layers_15_self_attn_o_proj_weight", 5) == "model_layers_15_self_attn_o_proj");
    CHECK(short_dtype("(torch.float32, torch.int32)") == "(f32, i32)");
    CHECK(short_dtype("unknown").empty());
}

TEST_CASE("escaping keeps text text") {
    const std::string hostile = "a\"b\\c<d>&'\n{}|\xff";
    CHECK(dot_string(hostile) == R"("a\"b\\c<d>&'\\n{}|\\xff")");
    CHECK(xml_text(hostile) == R"(a&quot;b\c&lt;d&gt;&amp;&#39;\n{}|\xff)");
    CHECK(csv_field("a,\"b\"") == "\"a,\"\"b\"\"\"");
    CHECK(csv_field("plain") == "plain");
    CHECK(tsv_field("a\tb") == "a\\tb");
    CHECK(markdown_cell("a|b`<i>_x_") == "a\\|b\\`&lt;i&gt;\\_x\\_");
    CHECK(file_name_part("../x y/ü") == "_.._x_y___");
    CHECK(file_name_part("") == "_");
}

TEST_CASE("text is measured, cut and padded in columns") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("µ…") == 2);
    CHECK(display_width("漢字") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(fit("abcdef", 4) == "abc…");
    CHECK(fit("漢字漢字", 4) == "漢…");
    CHECK(fit("abc", 3) == "abc");
    CHECK(fit("abc", 0).empty());
    CHECK(fit_middle("abcdefghij", 5) == "ab…ij");
    CHECK(pad_left("漢", 4) == "  漢");
    CHECK(pad_right("ab", 4) == "ab  ");
}

TEST_CASE("long lines are broken at spaces, and what stands apart stays apart") {
    CHECK(wrapped("", 5) == std::vector<std::string>{""});
    CHECK(wrapped("one two  three", 8) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("one  two", 8) == std::vector<std::string>{"one  two"});
    CHECK(wrapped("abcdefgh 漢字", 4) == std::vector<std::string>{"abc…", "漢字"});
}

TEST_CASE("bars are as long as their share") {
    CHECK(bar_text(0, 4).empty());
    CHECK(bar_text(-1, 4).empty());
    CHECK(bar_text(std::nan(""), 4).empty());
    CHECK(bar_text(1e-9, 4) == "▏");
    CHECK(bar_text(0.5, 4) == "██");
    CHECK(bar_text(0.53125, 4) == "██▏");
    CHECK(bar_text(1, 4) == "████");
    CHECK(bar_text(7, 4) == "████");
    CHECK(bar_cell(1, 0).text.empty());
    CHECK(bar_cell(3, 6).text == "████");
}

TEST_CASE("tables line up, fit their width and obey the wish for no colour") {
    TextTable table({{.head = "name", .least = 4}, {.head = "n", .right = true}});
    table.add_heading({{"a heading over both", Emphasis::strong}});
    table.add_row({{"漢字 and more"}, {"1"}});
    table.add_row({{"a\x1b[31m"}, {"1000"}});
    table.add_rule();
    CHECK(table.text(40, false) ==
          "name              n\na heading over both\n漢字 and more     1\na\\x1b[31m      1000\n───────────────────\n");
    CHECK(table.text(12, false) == "name       n\na heading o…\n漢字 …     1\na\\x1b…  1000\n────────────\n");
    CHECK(table.text(40, true).find("\x1b[1ma heading over both\x1b[0m") != std::string::npos);
}

TEST_CASE("names are cut so that what tells them apart stays") {
    CHECK(fit_name("add_rmsnorm_quant_kernel (in 1 of 32)", 40) == "add_rmsnorm_quant_kernel (in 1 of 32)");
    CHECK(fit_name("add_rmsnorm_quant_kernel (in 1 of 32)", 22) == "add_rmsn… (in 1 of 32)");
    CHECK(fit_name("elementwise mul (vector 4, AUnary)", 30) == "elemen… mul (vector 4, AUnary)");
    CHECK(fit_name("fp8_gemm_1d2d 64x128x128 (0x7168x2048)", 27) == "fp8_gemm_1d2… (0x7168x2048)");
    CHECK(fit_name("no parentheses at all", 10) == "no parent…");
}

TEST_CASE("a column that may go goes where the table would be too wide") {
    TextTable table({{.head = "name", .least = 4}, {.head = "n", .right = true}, {.head = "bar", .may_go = true}});
    table.add_row({{"abcdefgh"}, {"1"}, {"███"}});
    CHECK(table.text(12, false) == "name  n  bar\nabc…  1  ███\n");
    CHECK(table.text(11, false) == "name      n\nabcdefgh  1\n");
}
