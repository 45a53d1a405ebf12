#pragma once

#include <string>
#include <string_view>

namespace adpipe::shared {

/// A script, a style or a piece of a page that is compiled in; embed.cmake makes it.
struct Asset {
    std::string_view text;
    std::string_view sha256;  ///< in hexadecimal
};

/// For a content security policy: "'sha256-…'" of a digest in hexadecimal.
std::string policy_hash(std::string_view hexadecimal);

}  // namespace adpipe::shared
