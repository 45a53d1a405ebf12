#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace adpipe::shared {

/// Makes room for `count` elements, of which the huge pages that fit are asked for: with pages of 4 kB, filling a column of millions costs more
/// time in page faults than in all else. Only a wish, nothing is lost where it is refused.
template <class T>
void reserve_in_huge_pages(std::vector<T>& column, std::size_t count) {
    constexpr std::uintptr_t huge_page = 2 << 20;
    column.reserve(count);
    const auto begin = reinterpret_cast<std::uintptr_t>(column.data());
    const std::uintptr_t from = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t to = (begin + column.capacity() * sizeof(T)) / huge_page * huge_page;
    if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace adpipe::shared
