#include <adpipe/render/distinct_names.hpp>

#include <adpipe/diagnostic.hpp>
#include <adpipe/kernel_names.hpp>

#include "kernels/kernel_text.hpp"
#include "kernels/rule_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace adpipe;

namespace {

kernels::RuleSet all_rules() {
    kernels::RuleSet set;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator{ADPIPE_KERNEL_NAME_RULES}) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) kernels::read_rules(file, set);
    return set;
}

std::filesystem::path write_rules(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / ("adpipe_rules_" + std::to_string(std::rand()) + ".yaml");
    std::ofstream{file} << text;
    return file;
}

}  // namespace

TEST_CASE("every kernel-name rule knows its own example, and reads from it what it says") {
    const kernels::RuleSet set = all_rules();
    REQUIRE(set.rules.size() > 100);
    CHECK(set.examples.size() == set.rules.size());
    for (const kernels::RuleExample& example : set.examples) {
        CAPTURE(example.rule);
        CAPTURE(example.name);
        const KernelName name = KernelNames::built_in().decode(example.name);
        CHECK(name.rule == example.rule);
        CHECK(name.short_name.size() <= 60);
        for (const KernelParameter& expected : example.parameters) {
            CAPTURE(expected.name);
            CHECK(std::string{name.parameter(expected.name)} == expected.value);
        }
    }
}

TEST_CASE("the same kernel is the same kernel in every profiler's spelling") {
    const KernelNames& names = KernelNames::built_in();
    const KernelName nsys = names.decode(
        "void flashinfer::norm::RMSNormKernel<(unsigned int)8, __nv_bfloat16>(T2 *, T2 *, T2 *, unsigned int, float, float)");
    const KernelName kineto = names.decode(
        "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int)");
    const KernelName mangled = names.decode("_ZN10flashinfer4norm13RMSNormKernelILj8E13__nv_bfloat16EEvPT0_S3_S3_jjjff");
    for (const KernelName& name : {nsys, kineto, mangled}) {
        CHECK(name.function == "flashinfer::norm::RMSNormKernel");
        CHECK(name.library == "FlashInfer");
        CHECK(name.category == KernelCategory::norm);
        CHECK(std::string{name.parameter("dtype")} == "bf16");
        CHECK(std::string{name.parameter("vector")} == "8");
    }
}

TEST_CASE("mangled names of 16-bit floats are read with any C++ library") {
    const KernelName name = KernelNames::built_in().decode(
        "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_");
    CHECK(name.function == "aiter::add_rmsnorm_quant_kernel");
    CHECK(std::string{name.parameter("fused_add")} == "false");
    CHECK(std::string{name.parameter("dtype")} == "bf16");
}

TEST_CASE("a mangled name that no library reads keeps its function") {
    const KernelName name = KernelNames::built_in().decode(
        "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i");
    CHECK(name.function == "sgl_hip::activation::act_and_mul_kernel");
    CHECK(name.category == KernelCategory::activation);
}

TEST_CASE("an unknown kernel is other, with its name in plain text") {
    const KernelNames& names = KernelNames::built_in();
    for (const char* text : {"void my_company::quark<int, (bool)1>(int *)", "frobnicate", "_ZN3abc3defEPi"}) {
        const KernelName name = names.decode(text);
        CAPTURE(text);
        CHECK(name.category == KernelCategory::other);
        CHECK(name.library.empty());
        CHECK(name.rule.empty());
        CHECK_FALSE(name.short_name.empty());
    }
    CHECK(names.decode("_ZN3abc3defEPi").demangled == "abc::def(int*)");
    CHECK(names.decode("void my_company::quark<int, (bool)1>(int *)").short_name == "quark");
}

TEST_CASE("names that only look alike get no category of another kernel") {
    const KernelNames& names = KernelNames::built_in();
    CHECK(names.decode("void flashinfer::norm::FusedAddRMSNormKernel<8u, __half>(__half*)").category == KernelCategory::norm);
    CHECK(names.decode("void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::Mainloop> >(P)").category == KernelCategory::attention);
    CHECK(names.decode("build_attention_mask_table(int*)").category == KernelCategory::other);
}

TEST_CASE("hostile kernel names cost little and break nothing") {
    const KernelNames& names = KernelNames::built_in();
    CHECK(names.decode("").category == KernelCategory::other);
    for (const char c : {'<', '(', '>', ')', ':', 'x', '_', '\xff', '\0'}) {
        const KernelName name = names.decode(std::string(300000, c));
        CHECK(name.short_name.size() <= 60);
    }
    for (const char* text : {"_Z", "_ZN", "_ZN99999999999999999999a", "_ZN3ab", "nvjet_", "Cijk_", "void", "void ", "<>", "a<b",
                             "kernel<((((((((((((int)1>(", "_ZNSt", "Memcpy (", "::", "x::", "bmm_"}) {
        CAPTURE(text);
        names.decode(text);
    }
    std::string nested = "k<";
    for (int i = 0; i < 4000; ++i) nested += "(a)";
    names.decode("void cutlass::Kernel2<" + nested);
}

TEST_CASE("arguments of templates come out plain") {
    using kernels::simple_argument;
    CHECK(simple_argument("(int)128") == "128");
    CHECK(simple_argument("(unsigned long)4096") == "4096");
    CHECK(simple_argument("128ul") == "128");
    CHECK(simple_argument("(bool)0") == "false");
    CHECK(simple_argument("(deep_gemm::GemmType)2") == "2");
    CHECK(simple_argument("cute::tuple<cute::C<1>, cute::C<2>, cute::C<64> >") == "1x2x64");
    CHECK(simple_argument("cute::tuple<cute::C<(int)8>, cute::C<(int)2>>") == "8x2");
    CHECK(simple_argument("ck::Sequence<16, 16, 1>") == "16x16x1");
    CHECK(simple_argument("cutlass::bfloat16_t") == "bf16");
    CHECK(simple_argument("my::Type<int>") == "my::Type<int>");
    CHECK(kernels::template_arguments("a<b<1, 2>, c>(b<3>)", "b") == std::vector<std::string>{"1", "2"});
    CHECK(kernels::template_arguments("Xb<1>", "b").empty());
}

TEST_CASE("globs") {
    using kernels::glob_matches;
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("a*c", "abbc"));
    CHECK_FALSE(glob_matches("a*c", "abb"));
    CHECK(glob_matches("*ab*ab*", "xabyabz"));
    CHECK_FALSE(glob_matches("ab", "abc"));
    CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("rules of one's own go before those that adpipe ships, and mistakes in them are named with file and line") {
    const auto good = write_rules(
        "library: Mine\nrules:\n  - rule: gemm\n    name: \"nvjet_*\"\n    category: gemm\n    example: nvjet_x\n");
    const KernelNames names{{good}};
    CHECK(names.decode("nvjet_tst_64x8_64x16_4x1_v_bz_TNT").library == "Mine");
    CHECK(names.decode("kernel_mha").library == "TensorRT-LLM");

    const auto bad = write_rules("library: Mine\nrules:\n  - rule: gemm\n    nam: \"nvjet_*\"\n    category: gemm\n");
    try {
        const KernelNames refused{{bad}};
        FAIL("accepted");
    } catch (const Error& error) {
        REQUIRE(error.diagnostics().size() == 1);
        const Diagnostic& diagnostic = error.diagnostics().front();
        CHECK(diagnostic.code == "ADP-NAM-001");
        CHECK(diagnostic.where.file == bad.string());
        CHECK(diagnostic.where.line == 4);
        CHECK(diagnostic.message.find("unknown key 'nam'") != std::string::npos);
    }
    for (const char* text :
         {"", "[]", "library: [", "library: x\nrules: 3\n", "library: x\nrules:\n  - 7\n",
          "library: x\nrules:\n  - rule: a\n    name: b\n    category: gem\n    example: b\n", "library: x\nlibrary: y\nrules: []\n"}) {
        CAPTURE(text);
        const auto file = write_rules(text);
        CHECK_THROWS_AS(KernelNames{{file}}, Error);
        std::filesystem::remove(file);
    }
    CHECK_THROWS_AS(KernelNames{{"/nonexistent/rules.yaml"}}, Error);
    std::filesystem::remove(good);
    std::filesystem::remove(bad);
}

TEST_CASE("letters that stand for types") {
    const auto types = [](const char* name) {
        const KernelName decoded = KernelNames::built_in().decode(name);
        std::string text;
        for (const char* field : {"dtype", "dtype_b", "accumulator", "dtype_out", "types"})
            text.append(decoded.parameter(field)).append("|");
        return text;
    };
    CHECK(types("nvjet_tst_64x8_64x16_2x1_v_bz_TNT") == "bf16||fp32|bf16||");
    CHECK(types("nvjet_tss_64x8_64x16_2x1_v_bz_TNT") == "bf16||fp32|fp32||");
    CHECK(types("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT") == "fp8_e4m3|fp8_e4m3|fp32|bf16||");
    CHECK(types("nvjet_tsz_64x8_64x16_2x1_v_bz_TNT") == "bf16||fp32|unknown (z)||");
    CHECK(types("nvjet_ts_64x8_64x16_2x1_v_bz_TNT") == "||||ts|");  // not as many letters as is known of
}

TEST_CASE("short names that tell kernels apart") {
    const auto labels = [](const std::vector<std::string>& names) {
        std::vector<KernelName> decoded;
        for (const std::string& name : names) decoded.push_back(KernelNames::built_in().decode(name));
        return render::distinct_short_names(decoded);
    };
    using Labels = std::vector<std::string>;
    CHECK(labels({"nvjet_tst_64x16_64x16_2x1_v_bz_TNT", "nvjet_tst_64x16_64x12_4x1_v_bz_TNT", "nvjet_tst_8x64_64x16_4x1_v_bz_TNN"}) ==
          Labels{"nvjet_64x16 (stages 16)", "nvjet_64x16 (stages 12)", "nvjet_8x64"});
    CHECK(labels({"nvjet_tst_64x16_64x16_2x1_v_bz_TNT", "nvjet_tst_64x16_64x16_2x1_v_bz_splitK_TNT"}) ==
          Labels{"nvjet_64x16", "nvjet_64x16 (split_k)"});
    CHECK(labels({"nvjet_tst_64x16_64x16_2x1_v_bz_TNT", "nvjet_tst_64x16_64x16_2x1_v_bz_TNN", "nvjet_tss_64x16_64x16_2x1_v_bz_TNN"}) ==
          Labels{"nvjet_64x16 (dtype_out bf16, layout TNT)", "nvjet_64x16 (dtype_out bf16, layout TNN)", "nvjet_64x16 (dtype_out fp32)"});
    CHECK(labels({"void vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>(int)",
                  "void vectorized_elementwise_kernel<4, AbsFunctor<float>>(int)"}) == Labels{"elementwise add", "elementwise abs"});
    CHECK(labels({"void mine<7, float>(int)", "void mine<7, double>(int)", "other"}) == Labels{"mine (float)", "mine (double)", "other"});
    const std::vector<std::string> gemms = labels(
        {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0, 7168, 2048, 1, 64, 128, 128, 128, 128, 128, 4, 128, 128>(int)",
         "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0, 4096, 7168, 1, 64, 128, 128, 128, 128, 128, 4, 128, 128>(int)"});
    CHECK(gemms.front() == "fp8_gemm_1d2d 128x128x128 (7168x2048x1)");
    CHECK(gemms.back() == "fp8_gemm_1d2d 128x128x128 (4096x7168x1)");
    CHECK(labels({"Cijk_Alik_Bljk_BBS_BH_MT32x32x256_MI16x16x1_SN_NTA0_NTB0_NTC0_NTD4",
                  "Cijk_Alik_Bljk_BBS_BH_MT32x32x256_MI16x16x1_SN_NTA4_NTB0_NTC0_NTD4"}) ==
          Labels{"Tensile MT32x32x256 (NTA0)", "Tensile MT32x32x256 (NTA4)"});
    CHECK(labels({"void mine<(Kind)1>(int)", "void mine<(Kind)2>(int)"}) == Labels{"mine (Kind 1)", "mine (Kind 2)"});
    CHECK(labels({"same", "same"}) == Labels{"same", "same (another, 2)"});
    CHECK(labels({}).empty());
}
