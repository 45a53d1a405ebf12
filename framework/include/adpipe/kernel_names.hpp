#pragma once

// What the name of a GPU kernel tells: who wrote it, what it does, and the sizes that its author put into the name.

#include <adpipe/export.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// What a kernel does. `other` is "not known": a name that no rule knows never gets another category.
enum class KernelCategory : std::uint8_t {
    other,
    gemm,
    attention,
    moe,  ///< expert matrix products, routing, sorting and combining of tokens
    norm,
    activation,
    rope,
    quantisation,
    communication,
    sampling,
    copy,   ///< copies, casts, fills, concatenations, transposes
    cache,  ///< writes to and index work for the key-value or state cache
    embedding,
    state_space,  ///< Mamba, gated delta net and their convolutions
    convolution,
    elementwise,  ///< arithmetic of no more special kind
    reduction,    ///< sums, means, scans, sorts
};
ADPIPE_EXPORT std::string_view category_text(KernelCategory category) noexcept;
inline constexpr std::size_t kernel_category_count = 17;

/// "tile" = "128x256x64". The usual names: tile, stages, cluster, block, dtype, layout, split_k, scale_block, head_dim; those that only
/// one library knows are called as that library calls them (MPerXDL).
struct KernelParameter {
    std::string name;
    std::string value;
};

struct ADPIPE_EXPORT KernelName {
    std::string demangled;   ///< the name itself where it is not mangled, or of a form that the compiler's library cannot read
    std::string function;    ///< qualified, without return type, template arguments and parameters: "flashinfer::norm::RMSNormKernel"
    std::string short_name;  ///< for people: at most 60 characters
    std::string library;     ///< "cuBLAS"; empty if not known
    KernelCategory category = KernelCategory::other;
    std::vector<KernelParameter> parameters;  ///< in the order of the rule
    std::string rule;                         ///< "cublas/nvjet", the rule that knew it; empty: none did
    /// The value of that parameter, or empty text.
    std::string_view parameter(std::string_view name) const noexcept;
};

struct DecodedNames;

/// Decodes kernel names by rules (docs/kernel-names.md). Immutable; may be used from several threads.
class ADPIPE_EXPORT KernelNames {
public:
    /// The rules that adpipe ships (configs/rules/kernel_names, compiled in): costs nothing to get.
    static const KernelNames& built_in();
    /// The same, and before them the rules of more files of that form. Throws Error (ADP-NAM-…), naming file and line.
    /// Names that `known` holds are as it says; rules decide about the others.
    explicit KernelNames(const std::vector<std::filesystem::path>& more_rules = {},
                         std::vector<std::shared_ptr<const DecodedNames>> known = {});
    ~KernelNames();
    KernelNames(const KernelNames&) = delete;
    KernelNames& operator=(const KernelNames&) = delete;

    /// `name` as a trace has it: demangled by the profiler in its own style, mangled, or of a kernel that has no C++ name.
    KernelName decode(std::string_view name) const;

private:
    struct Rules;
    std::unique_ptr<Rules> rules_;
    std::vector<std::shared_ptr<const DecodedNames>> known_;
};

}  // namespace adpipe
