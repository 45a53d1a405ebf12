#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace adpipe {

/// Asks for huge pages for what is larger than one: with 4 kB pages, a graph of some ten megabytes costs more time in page faults than in
/// reading its text. A part of a huge page at the end stays in small pages, so that no memory is wasted.
template <class T>
struct LargeArrayAllocator {
    using value_type = T;
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    LargeArrayAllocator() = default;
    template <class U>
    LargeArrayAllocator(const LargeArrayAllocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        if (bytes < huge_page) return static_cast<T*>(::operator new(bytes));
        void* memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
        if (memory == nullptr) throw std::bad_alloc();
        ::madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // only a wish: nothing is lost where it is refused
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (count * sizeof(T) < huge_page) ::operator delete(memory);
        else std::free(memory);
    }

    friend bool operator==(const LargeArrayAllocator&, const LargeArrayAllocator&) noexcept { return true; }
};

template <class T>
using LargeArray = std::vector<T, LargeArrayAllocator<T>>;

}  // namespace adpipe
