#pragma once

// Kernel names as small numbers, with what the segmentation wants to know of each.

#include <adpipe/kernel_names.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace segment {

/// Number of a kernel name in a SymbolTable, from 0.
using Symbol = std::uint32_t;
using Symbols = std::vector<Symbol>;
using SymbolSpan = std::span<const Symbol>;

struct SymbolInfo {
    std::string name;  ///< as the trace has it
    std::string short_name;
    Symbol alike = 0;  ///< the same for names that differ in numbers only (tile sizes, hashes)
    adpipe::KernelCategory category = adpipe::KernelCategory::other;
    std::string library;
    bool is_addition = false;     ///< an element-wise sum, as the end of a residual block is
    bool adds_and_norms = false;  ///< a norm with the residual sum in it

    bool is_softmax = false;
    bool is_gate = false;           ///< an activation that scales something, as a sigmoid does in many places
    bool finishes_product = false;  ///< adds up the parts of the matrix product before it

    bool mixes_tokens() const noexcept;        ///< attention or a state-space mixer
    bool feeds_forward() const noexcept;       ///< activation (a gate too) or experts
    bool opens_or_ends_pass() const noexcept;  ///< embedding or sampling: never inside a layer
};

class SymbolTable {
public:
    explicit SymbolTable(const adpipe::KernelNames& names = adpipe::KernelNames::built_in()) : names_{names} {}
    Symbol intern(std::string_view name, adpipe::KernelKind kind = adpipe::KernelKind::kernel);
    const SymbolInfo& operator[](Symbol symbol) const noexcept { return infos_[symbol]; }
    std::size_t size() const noexcept { return infos_.size(); }

    /// How well two kernels stand in for each other: 1 the same name, 0.8 but for numbers, 0.4 the same kind of work, 0
    /// different.
    double likeness(Symbol a, Symbol b) const noexcept;

private:
    const adpipe::KernelNames& names_;
    std::vector<SymbolInfo> infos_;
    std::unordered_map<std::string, Symbol> ids_;
    std::unordered_map<std::string, Symbol> alike_ids_;
};

/// True if the parts of `pattern` between its '*' are in `name`, in this order.
bool name_fits(std::string_view name, std::string_view pattern);
/// Where the last of these parts ends in `name`; npos if they are not there.
std::size_t end_of_fit(std::string_view name, std::string_view pattern);

/// `name` with every number and every hash as '#': the same for instances of one template.
std::string without_numbers(std::string_view name);

}  // namespace segment
