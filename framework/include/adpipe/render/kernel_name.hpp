#pragma once

#include <adpipe/export.hpp>

#include <string>
#include <string_view>

namespace adpipe::render {

/// What an engineer calls a kernel: the function's own name, without return type, namespaces, template arguments and parameters
/// ("void deep_gemm::sm90_fp8_gemm_1d2d_impl<…>(…)" → "sm90_fp8_gemm_1d2d_impl"); for generic wrappers what they wrap
/// ("vectorized_elementwise_kernel<…CUDAFunctor_add…>" → "elementwise add"); generated names up to their tile size. At most 60
/// characters. Takes demangled and mangled names of any library. Pure, any thread.
ADPIPE_EXPORT std::string short_kernel_name(std::string_view name);

}  // namespace adpipe::render
