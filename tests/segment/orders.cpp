#include "orders.hpp"

namespace orders {

namespace {

const char* const rms_norm = "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)";
const char* const qkv_gemm = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT";
const char* const out_gemm = "nvjet_tst_128x8_64x12_2x1_v_bz_splitK_TNT";
const char* const rope = "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheHeadParallelismKernel<true, 64u>(long)";
const char* const attention = "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ8Kv128";
const char* const silu = "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, silu>(__nv_bfloat16*, __nv_bfloat16 const*, int)";
const char* const store_cache = "void store_kvcache<128ul, true>(StoreKVCacheParams)";
const char* const topk = "void tensorrt_llm::kernels::deepseek_v3_topk_kernel<float, 256, 8>(float*)";
const char* const grouped_gemm = "void tensorrt_llm::kernels::cutlass_kernels::moe_gemm_grouped<128, 16>(int)";
const char* const delta_rule = "fused_recurrent_gated_delta_rule_fwd_kernel";
const char* const convolution = "causal_conv1d_update_kernel";

}  // namespace

Names dense_layer() {
    return {rms_norm, qkv_gemm, rope, store_cache, attention, out_gemm, rms_norm, "nvjet_tst_256x16_64x6_4x1_v_bz_TNT", silu, out_gemm};
}
Names moe_layer() {
    return {rms_norm, qkv_gemm,     rope, store_cache, attention, out_gemm, rms_norm, "nvjet_tst_64x32_64x4_1x1_h_bz_TNT",
            topk,     grouped_gemm, silu, grouped_gemm};
}
Names linear_attention_layer() {
    return {rms_norm, qkv_gemm, convolution, delta_rule, out_gemm, rms_norm, "nvjet_tst_256x16_64x6_4x1_v_bz_TNT", silu, out_gemm};
}
Names state_space_layer() {
    return {rms_norm, qkv_gemm, convolution, "void silu_kernel_cuda(int)", "selective_scan_update_kernel", out_gemm};
}
Names sliding_layer() {
    Names names = dense_layer();
    names[4] = "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvSlidingP64VarSeqQ8Kv128";
    return names;
}

Order& Order::outside(const Names& names) {
    kernels.insert(kernels.end(), names.begin(), names.end());
    layer.insert(layer.end(), names.size(), -1);
    return *this;
}

Order& Order::layers(const Names& names, std::size_t count) {
    std::int32_t number = -1;
    for (const std::int32_t n : layer) number = std::max(number, n);
    for (std::size_t i = 0; i < count; ++i) {
        kernels.insert(kernels.end(), names.begin(), names.end());
        layer.insert(layer.end(), names.size(), ++number);
    }
    return *this;
}

Order model(const std::vector<Names>& layers) {
    Order order;
    order.outside({"void at::native::indexSelectSmallIndex<c10::BFloat16, long, unsigned int, 2, 2, -2>(int)"});
    for (const Names& names : layers) order.layers(names);
    return order.outside(
        {rms_norm, "nvjet_tst_128x16_64x9_2x1_v_bz_TNN", "void at::native::reduce_kernel<512, 1, at::native::ArgMaxOps<float>>(int)"});
}

Found found_in(const Names& kernels) {
    segment::SymbolTable table;
    segment::Symbols symbols;
    for (const std::string& name : kernels) symbols.push_back(table.intern(name));
    const auto period = segment::find_period(table, symbols);
    Found found;
    if (!period) return found;
    found.any = true;
    found.confidence = period->confidence;
    found.kind = period->layering.kind;
    found.layer.assign(kernels.size(), -1);
    for (std::size_t i = 0; i < period->layering.spans.size(); ++i) {
        const segment::Span& span = period->layering.spans[i];
        for (std::uint32_t k = span.begin; k < span.end; ++k) found.layer[k] = static_cast<std::int32_t>(i);
    }
    return found;
}

double agreement(const Order& order, const Found& found) {
    if (!found.any) return 0;
    std::size_t same = 0;
    for (std::size_t k = 0; k < order.layer.size(); ++k) same += order.layer[k] == found.layer[k] ? 1 : 0;
    return static_cast<double>(same) / static_cast<double>(order.layer.size());
}

}  // namespace orders
