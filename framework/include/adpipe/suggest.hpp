#pragma once

#include <adpipe/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other, ignoring case. Bytes, not letters.
ADPIPE_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// What `name` was probably meant to be: the nearest candidate, if one is near enough (at most 3 edits and half the name); else the first
/// that contains it, for a name of three letters or more; else empty.
ADPIPE_EXPORT std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// For a diagnostic's notes: "did you mean 'x'?" if something is near, else "<what>: a, b, c", or "<what>: none".
ADPIPE_EXPORT std::string suggestion(std::string_view name, const std::vector<std::string>& candidates, std::string_view what);

/// "a, b, c"; of more than `most` names the first, then "… and 12 more".
ADPIPE_EXPORT std::string list_names(const std::vector<std::string>& names, std::size_t most = 20);

}  // namespace adpipe
