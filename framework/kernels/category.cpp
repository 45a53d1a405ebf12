#include <adpipe/kernel_names.hpp>

#include <array>

namespace adpipe {

std::string_view category_text(KernelCategory category) noexcept {
    static constexpr std::array<std::string_view, kernel_category_count> texts{
        "other",    "gemm", "attention", "moe",       "norm",        "activation",  "rope",        "quantisation", "communication",
        "sampling", "copy", "cache",     "embedding", "state_space", "convolution", "elementwise", "reduction"};
    const auto index = static_cast<std::size_t>(category);
    return index < texts.size() ? texts[index] : texts[0];
}

}  // namespace adpipe
