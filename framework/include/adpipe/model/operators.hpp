#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace adpipe {

/// The operators of the program that launched a trace's kernels: "aten::mm", "vllm::unified_attention_with_output".
/// Made once for all stages behind. Immutable; may be read from several threads.
struct Operators {
    std::shared_ptr<const Trace> trace;
    std::vector<std::string> names{""};    ///< the first is of the kernels whose operator is not known
    std::vector<std::uint32_t> of_kernel;  ///< per kernel of the trace: index into names; of kernels outside of chosen steps 0

    /// `kernel`: index into Trace::kernels. Empty text: not known.
    const std::string& of(std::uint32_t kernel) const noexcept { return names[of_kernel[kernel]]; }
    bool any() const noexcept { return names.size() > 1; }
};

template <>
struct ArtifactTraits<Operators> {
    static constexpr const char* id = "operators/1";
};

/// The one of `all` that is of this trace and knows an operator, or nullptr.
ADPIPE_EXPORT std::shared_ptr<const Operators> operators_of(const std::vector<std::shared_ptr<const Operators>>& all,
                                                            const Trace& trace) noexcept;

/// The operator that launched most of the kernels; with ", …" where others launched some; empty where none is known.
ADPIPE_EXPORT std::string commonest_operator(const Operators& operators, const std::vector<std::uint32_t>& kernels);

}  // namespace adpipe
