#pragma once

#include <adpipe/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other, ignoring case. Bytes, not letters.
ADPIPE_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, if one is near enough to be what was meant (at most 3 edits and half the name); else empty.
ADPIPE_EXPORT std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// For a diagnostic's notes: "did you mean 'x'?" if something is near, else "<what>: a, b, c", or "<what>: none".
ADPIPE_EXPORT std::string suggestion(std::string_view name, const std::vector<std::string>& candidates, std::string_view what);

}  // namespace adpipe
