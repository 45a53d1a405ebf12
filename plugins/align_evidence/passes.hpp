#pragma once

#include "scopes.hpp"

#include <adpipe/model/window.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace adpipe::align {

/// A sequence of kernels to align with the graph once, for all steps that ran it.
struct Pass {
    /// One chain where the launch order is known, else one per stream.
    std::vector<std::vector<LatticeKernel>> chains;
    /// Per kernel of each chain: its place in `members`' lists.
    std::vector<std::vector<std::uint32_t>> slots;
    std::size_t slot_count = 0;
    /// Per slot, where stronger evidence already named the op; else OpTable::no_op.
    std::vector<std::uint32_t> fixed_op;
    std::vector<std::uint32_t> scope;  ///< per slot
    std::vector<bool> annotated;       ///< per slot: the scope was written on the kernel itself
    std::vector<bool>
        captured_work;  ///< per slot: it ran from a captured graph, so that its scope, if not written on it, is that of its capture
    std::vector<bool> left_out;          ///< per slot: known to belong to no op
    std::vector<std::uint32_t> example;  ///< per slot: a kernel that ran there
    /// Per slot: a companion recording gave the scope, with this probability; 0: it did not.
    std::vector<float> by_companion;
    bool cut_begin = false, cut_end = false;  ///< it is a part of a pass: the recording began in it, or ended in it
    bool in_order = false;                    ///< slots are in the order of the launches, or all on one stream
    bool replay = false;
    bool losses = false;
    std::uint32_t captured = no_captured_graph;  ///< slots are the nodes of this graph
    std::vector<std::uint32_t> steps;            ///< else: slots are the kernels of each of these steps
};

/// The names of a trace's kernels, numbered for the launch model.
class NameTable {
public:
    explicit NameTable(const Trace& trace);
    const std::vector<KernelName>& names() const noexcept { return names_; }
    std::uint32_t name(std::uint32_t kernel) const { return of_string_.at(trace_.kernels.name[kernel]); }
    std::uint32_t variant(std::uint32_t kernel);

private:
    const Trace& trace_;
    std::vector<KernelName> names_;
    std::unordered_map<StringId, std::uint32_t> of_string_;
    std::unordered_map<std::uint64_t, std::uint32_t> variants_;
};

class Companion;

/// Every different pass of the window. Steps with the same kernels in the same order, and with the same scopes, are one.
/// `companion`, if there is one, is asked where the recording itself says nothing.
std::vector<Pass> find_passes(const Window& window, NameTable& names, ScopeTable& scopes, const RangeIndex& ranges, Companion* companion);

}  // namespace adpipe::align
