#include "cli/heap.hpp"

#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace adpipe::cli {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

/// True where the process may not have as many addresses as it likes (`ulimit -v`, `ulimit -d`, some batch systems): they are too few then to
/// set any aside.
bool has_limited_addresses() noexcept {
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
    }
    return false;
}

}  // namespace
#endif

void prepare_heap() noexcept {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (has_limited_addresses()) return;
    constexpr int first_step = 512 << 20;
    constexpr int later_step = 16 << 20;
    constexpr std::uintptr_t huge_page = 2 << 20;
    const auto begin = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, first_step);
    void* volatile more = std::malloc(1 << 20);  // grows the heap by a step; volatile, or the compiler leaves it out
    const auto used_to = reinterpret_cast<std::uintptr_t>(more);
    std::free(more);
    mallopt(M_TOP_PAD, later_step);  // where a step cannot be had, malloc tries no smaller one: it fails
    const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    const std::uintptr_t from = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t to = end / huge_page * huge_page;
    if (from >= to || ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE) != 0) return;
    if (used_to < from) more = std::malloc(from - used_to);  // never touched, never freed: what comes lies on huge pages from the start
#endif
}

}  // namespace adpipe::cli
