#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

/// A file that lives as long as the object.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view content) {
        std::string name = (std::filesystem::temp_directory_path() / "adpipe-test-XXXXXX").string();
        const int file = ::mkstemp(name.data());
        if (file < 0) throw std::runtime_error("no temporary file");
        ::close(file);
        path_ = name;
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};
