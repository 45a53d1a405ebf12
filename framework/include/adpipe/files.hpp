#pragma once

#include <adpipe/export.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

namespace adpipe {

/// A file's bytes, mapped read-only. Copies nothing; the mapping lives as long as the object.
class ADPIPE_EXPORT MappedFile {
public:
    /// Throws Error (ADP-IO-…) if the file is missing, a directory, or unreadable. An empty file gives empty text.
    static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::string_view text() const noexcept { return text_; }
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    MappedFile() = default;
    std::filesystem::path path_;
    std::string_view text_;
};

/// Writes to a temporary name in the same directory, then renames. Throws Error (ADP-IO-…) and leaves nothing behind if it cannot.
ADPIPE_EXPORT void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Whether a file that begins so is a layer JSON (docs/formats.md), whatever the order of its keys. `beginning`: some 64 kB, or all of it.
ADPIPE_EXPORT bool looks_like_layer_json(std::string_view beginning) noexcept;

}  // namespace adpipe
