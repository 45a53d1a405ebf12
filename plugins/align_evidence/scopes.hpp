#pragma once

#include "op_table.hpp"

#include <adpipe/model/trace_index.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace adpipe::align {

/// What ranges around a launch, or the annotation of a kernel, say of the op that launched it.
struct Scope {
    std::uint32_t op = OpTable::no_op;  ///< the op itself
    std::string module;                 ///< else the module, as identifier; empty: nothing said
    LayerId layer = layer_unknown;
    std::string text;  ///< of the range that decided
    /// What the profiler saw being called, as the graph writes it ("aten.to"), where the graph calls it as well. It tells apart what lies side by side
    /// and is no answer by itself.
    std::string call;
};

/// Scopes by number; 0 says nothing. Ranges with the same texts give the same scope.
class ScopeTable {
public:
    static constexpr std::uint32_t nothing = 0;

    enum class Calls : std::uint8_t { ignored, used };
    ScopeTable(const Trace& trace, const RangeIndex& ranges, const OpTable& ops, Calls calls)
        : trace_(trace), ranges_(ranges), ops_(ops), use_calls_(calls == Calls::used), scopes_(1), fits_(1) {}

    /// The scope at a moment on a host thread.
    std::uint32_t at(std::uint64_t thread, Nanoseconds time);
    /// The scope that a kernel's own annotation gives, or `nothing`.
    std::uint32_t of_annotation(std::uint32_t kernel);
    /// Launched outside of all layers, in a step whose other kernels have layers.
    std::uint32_t outside_layers();
    /// Launched outside the range that holds nearly all of its step.
    std::uint32_t outside_step();

    /// The scope without what was called.
    std::uint32_t without_call(std::uint32_t scope);

    /// A scope that was found elsewhere.
    std::uint32_t adopt(const Scope& scope) { return add(scope); }

    const Scope& operator[](std::uint32_t scope) const { return scopes_[scope]; }
    /// From now on answers of `fit` for the scope are kept.
    void prepare_fit(std::uint32_t scope);
    /// Log factor: 0 where nothing speaks against the op. Several threads may ask.
    float fit(std::uint32_t scope, std::uint32_t op);

private:
    std::uint32_t of_range(std::uint32_t range);
    std::string call_around(const std::vector<std::uint32_t>& stack) const;
    std::uint32_t add(Scope scope);
    bool read_text(const std::string& text, Scope& scope) const;
    LayerId layer_of_module(const std::string& module) const;
    float judge(const Scope& scope, std::uint32_t op) const;

    const Trace& trace_;
    const RangeIndex& ranges_;
    const OpTable& ops_;
    const bool use_calls_;
    std::vector<Scope> scopes_;
    static constexpr std::int8_t not_judged = 127;
    std::vector<std::vector<std::int8_t>> fits_;  ///< per scope and op, once asked for
    std::unordered_map<std::string, std::uint32_t> by_key_;
    std::unordered_map<std::uint32_t, std::uint32_t> of_range_;
    std::unordered_map<StringId, Scope> of_text_;
    std::uint32_t outside_layers_ = nothing;
    std::uint32_t outside_step_ = nothing;
};

}  // namespace adpipe::align
