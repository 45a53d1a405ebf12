#pragma once

#include "launch_model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace adpipe::align {

/// An op of the graph, in execution order.
struct LatticeOp {
    std::uint32_t profile = 0;
    std::uint32_t signature = 0;  ///< ops that must behave alike: the same call with the same shapes in another layer
    bool side_stream = false;     ///< the graph puts it on an auxiliary stream
    bool seen = false;            ///< some of its kernels are known by stronger evidence: it may well launch no other
};

/// A kernel of a step.
struct LatticeKernel {
    std::uint32_t name = 0;               ///< in the launch model
    std::uint32_t variant = 0;            ///< name and launch shape
    std::uint32_t scope = 0;              ///< what stronger evidence says of it: row of ScopeFit; 0 says nothing
    std::uint32_t first_op = 0;           ///< stronger evidence on its neighbours says that no earlier op …
    std::uint32_t last_op = 0xffffffffU;  ///< … and no later one launched it
    bool edge = false;                    ///< may well belong to no op: before or after the forward pass
};

/// How well ops fit a kernel's scope: log factor, 0 where nothing is against it.
using ScopeFit = std::function<float(std::uint32_t scope, std::uint32_t op)>;

/// Kernel sequences seen per op signature, from placements that were beyond doubt.
class SequenceMemory {
public:
    /// `losses`: kernels are missing from some recording, so that a sequence may come back with a gap.
    explicit SequenceMemory(bool losses = false) : losses_(losses) {}
    void add(std::uint32_t signature, std::span<const LatticeKernel> kernels, double weight);
    /// What the rules alone say of the sequence, and what was seen before, together. Both are log factors over names drawn at random.
    /// `losses`: one of the kernels may be missing here.
    double log_factor(std::uint32_t signature, std::span<const LatticeKernel> kernels, double by_rules, double log_name_count,
                      bool losses) const;
    bool empty() const noexcept { return total_.empty(); }

private:
    static constexpr std::size_t no_gap = ~std::size_t{0};
    static std::uint64_t key(std::uint32_t signature, std::span<const LatticeKernel> kernels, bool variants,
                             std::size_t gap = no_gap) noexcept;
    bool losses_;
    std::unordered_map<std::uint64_t, float> by_name_;
    std::unordered_map<std::uint64_t, float> by_variant_;
    std::unordered_map<std::uint64_t, float> with_gap_;  ///< by name, one kernel left out
    std::unordered_map<std::uint32_t, float> total_;
};

/// Kernels in known order: one chain where the launch order of all is known, else one per stream.
struct LatticeInput {
    std::span<const LatticeOp> ops;
    std::span<const std::vector<LatticeKernel>> chains;
    const LaunchModel* model = nullptr;
    const SequenceMemory* memory = nullptr;
    ScopeFit scope_fit;
    std::uint32_t passes = 1;  ///< how often the kernels run through the ops
    bool losses = false;       ///< kernels may be missing from the recording
    /// Per op and chain, where it is known: log factor for the op's kernels being in that chain. Empty: nothing is known.
    std::span<const float> chain_preference;
};

/// An op and how sure it is.
struct Placement {
    std::uint32_t op = 0;
    float probability = 0;
};

struct LatticeResult {
    bool aligned = false;
    double log_likelihood = 0;
    /// Per chain, per kernel: the ops that it may belong to, most probable first; what is missing to 1 is "none".
    std::vector<std::vector<std::vector<Placement>>> placements;
    /// Runs of kernels that one op launched, with probability; for SequenceMemory.
    struct Run {
        std::uint32_t op;
        std::uint32_t chain;
        std::uint32_t first;
        std::uint32_t count;
        float probability;
    };
    std::vector<Run> runs;
};

/// Finds how the kernels belong to the ops, over all ways to place them in order (forward-backward sums, not only the best way).
LatticeResult align_in_order(const LatticeInput& input);

}  // namespace adpipe::align
