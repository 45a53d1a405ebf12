#pragma once

#include "host/elf_stamp.hpp"

#include <adpipe/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// The stamp that a plugin built like this library has.
ADPIPE_EXPORT const AdpipeAbi& host_abi() noexcept;

/// Every reason why a plugin with this stamp cannot run here, found beside expected; empty if it can.
ADPIPE_EXPORT std::vector<std::string> abi_mismatches(const StampReading& reading);

/// "1.74.0" for 107400.
ADPIPE_EXPORT std::string boost_version_text(std::uint32_t version);
/// "libstdc++ 12" or "libc++ 14.0.6".
ADPIPE_EXPORT std::string standard_library_text(const AdpipeAbi& abi);

/// The text of a NUL-padded field of a stamp; control characters are left out.
ADPIPE_EXPORT std::string stamp_text(const char* field, std::size_t capacity);
/// The stage names of a stamp, in its order.
ADPIPE_EXPORT std::vector<std::string> stamp_stages(const AdpipeAbi& abi);
/// "<kind>.<name>", each of lower-case letters, digits and '_', beginning with a letter.
ADPIPE_EXPORT bool is_stage_name(std::string_view name) noexcept;

}  // namespace adpipe
