#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace adpipe::sqlite {

/// The name of a file beside a database that holds a part of its truth: a rollback journal of a change that is not done, or a write-ahead log. Empty where
/// there is none; a journal that a done change has left (journal_mode=persist) begins with zeros.
inline std::string open_change_beside(const std::filesystem::path& database) {
    for (const char* suffix : {"-journal", "-wal"}) {
        const std::filesystem::path beside = database.string() + suffix;
        std::error_code error;
        if (!std::filesystem::exists(beside, error) || std::filesystem::file_size(beside, error) == 0) continue;
        std::array<char, 8> beginning{};
        std::ifstream(beside, std::ios::binary).read(beginning.data(), beginning.size());
        const bool is_done = std::string_view{suffix} == "-journal" && beginning == std::array<char, 8>{};
        if (!is_done) return beside.filename().string();
    }
    return {};
}

}  // namespace adpipe::sqlite
