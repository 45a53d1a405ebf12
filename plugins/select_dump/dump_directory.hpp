#pragma once

#include <adpipe/model/dump.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace adpipe::select {

/// What a directory holds that matters here.
struct Directory {
    std::filesystem::path path;
    std::vector<Dump> dumps;  ///< files `NNN_….txt`, by number, then name; `reason` is empty
    std::vector<std::string> directories;
    std::vector<std::string> other_files;
};

/// Throws Error (ADP-SEL-…) if there is no such directory, or it cannot be read, or it holds no dump; the message says what is there.
Directory read_directory(const std::filesystem::path& path);

/// Number, stage and transform from the file's name, completed from its first lines where the name leaves it open where the stage ends.
Dump describe_dump(const std::filesystem::path& file);

/// The dump with the highest number: by value, 1000 after 999.
Dump choose_final(const Directory& directory);

/// The dump of a transform: "fuse_moe", "post_load_fusion_fuse_moe", or the whole name "060_post_load_fusion_fuse_moe".
/// `occurrence` counts from 1, from the end if negative; 0: the transform must be there once.
Dump choose_transform(const Directory& directory, const std::string& transform, std::int64_t occurrence);

/// A file that the user names.
Dump choose_file(const std::filesystem::path& file);

}  // namespace adpipe::select
