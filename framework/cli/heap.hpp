#pragma once

namespace adpipe::cli {

/// A run makes what it needs, keeps most of it to the end, and ends soon: giving memory back to the system in between only has it fetched
/// again, page by page. So the heap keeps what it has, and lies on huge pages where the system has them: 512 MB of addresses, of which what is
/// never touched takes no memory. Does nothing where the process may have only so many addresses, without glibc, and under a sanitizer.
void prepare_heap() noexcept;

}  // namespace adpipe::cli
