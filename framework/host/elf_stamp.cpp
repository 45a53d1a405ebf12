#include "host/elf_stamp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace adpipe {
namespace {

constexpr std::string_view section_name = ".adpipe.abi";
/// The smallest stamp that says anything: magic, epoch, size.
constexpr std::uint32_t smallest_stamp = 16;
constexpr unsigned char host_byte_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
constexpr std::uint16_t host_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t host_machine = EM_AARCH64;
#else
constexpr std::uint16_t host_machine = EM_NONE;
#endif

/// An open file whose every read is checked against its size.
class File {
public:
    explicit File(const char* name) noexcept : descriptor_{::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
        struct stat status {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
            error_ = errno;
        } else if (!S_ISREG(status.st_mode)) {
            error_ = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        } else {
            size_ = static_cast<std::uint64_t>(status.st_size);
        }
    }
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int error() const noexcept { return error_; }
    bool holds(std::uint64_t offset, std::uint64_t count) const noexcept { return offset <= size_ && count <= size_ - offset; }

    bool read(std::uint64_t offset, void* into, std::size_t count) const noexcept {
        if (!holds(offset, count)) return false;
        auto* bytes = static_cast<char*>(into);
        while (count > 0) {
            const ssize_t got = ::pread(descriptor_, bytes, count, static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            bytes += got;
            offset += static_cast<std::uint64_t>(got);
            count -= static_cast<std::size_t>(got);
        }
        return true;
    }

private:
    int descriptor_;
    int error_ = 0;
    std::uint64_t size_ = 0;
};

/// The section headers of a file, read a few at a time.
class Sections {
public:
    explicit Sections(const File& file) noexcept : file_{file} {}

    StampStatus open() noexcept {
        Elf64_Ehdr header;
        if (!file_.read(0, &header, sizeof header)) {
            std::array<char, SELFMAG> magic{};
            const bool is_elf = file_.read(0, magic.data(), magic.size()) && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
            return is_elf ? StampStatus::damaged : StampStatus::not_elf;
        }
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return StampStatus::not_elf;
        if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != host_byte_order ||
            (host_machine != EM_NONE && header.e_machine != host_machine)) {
            return StampStatus::other_machine;
        }
        if (header.e_shnum == 0) return StampStatus::no_section;
        const std::uint64_t table_size = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
        if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum || !file_.holds(header.e_shoff, table_size)) {
            return StampStatus::damaged;
        }
        table_ = header.e_shoff;
        count_ = header.e_shnum;
        Elf64_Shdr names;
        if (!at(header.e_shstrndx, names) || !file_.holds(names.sh_offset, names.sh_size)) return StampStatus::damaged;
        names_offset_ = names.sh_offset;
        names_size_ = names.sh_size;
        first_names_size_ = static_cast<std::size_t>(std::min<std::uint64_t>(first_names_.size(), names.sh_size));
        if (!file_.read(names_offset_, first_names_.data(), first_names_size_)) return StampStatus::damaged;
        return StampStatus::found;
    }

    std::uint32_t size() const noexcept { return count_; }

    bool at(std::uint32_t index, Elf64_Shdr& header) noexcept {
        if (index >= count_) return false;
        if (loaded_ == 0 || index < first_ || index >= first_ + loaded_) {
            const auto wanted = std::min<std::uint32_t>(static_cast<std::uint32_t>(chunk_.size()), count_ - index);
            loaded_ = 0;
            if (!file_.read(table_ + std::uint64_t{index} * sizeof(Elf64_Shdr), chunk_.data(), wanted * sizeof(Elf64_Shdr))) {
                return false;
            }
            first_ = index;
            loaded_ = wanted;
        }
        header = chunk_[index - first_];
        return true;
    }

    bool is_named(const Elf64_Shdr& header, std::string_view name) const noexcept {
        std::array<char, 32> text{};
        const std::size_t length = name.size() + 1;  // with the NUL
        if (length > text.size() || header.sh_name > names_size_ || length > names_size_ - header.sh_name) return false;
        if (header.sh_name + length <= first_names_size_) {
            const std::string_view known{first_names_.data() + header.sh_name, length};
            return known.substr(0, name.size()) == name && known.back() == '\0';
        }
        return file_.read(names_offset_ + header.sh_name, text.data(), length) && text[length - 1] == '\0' &&
               std::string_view{text.data(), name.size()} == name;
    }

private:
    const File& file_;
    std::uint64_t table_ = 0;
    std::uint32_t count_ = 0;
    std::uint64_t names_offset_ = 0;
    std::uint64_t names_size_ = 0;
    std::array<char, 1024> first_names_{};  ///< mostly all of them
    std::size_t first_names_size_ = 0;
    std::array<Elf64_Shdr, 64> chunk_{};
    std::uint32_t first_ = 0;
    std::uint32_t loaded_ = 0;
};

StampStatus read_section(const File& file, const Elf64_Shdr& header, StampReading& reading) noexcept {
    if (header.sh_size < smallest_stamp || !file.holds(header.sh_offset, header.sh_size)) return StampStatus::damaged;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(header.sh_size, sizeof reading.abi));
    if (!file.read(header.sh_offset, &reading.abi, count)) return StampStatus::damaged;
    reading.bytes = count;
    return StampStatus::found;
}

/// The text at `offset` of a string table; empty if it is not there or has no end.
std::string string_at(const File& file, const Elf64_Shdr& table, std::uint64_t offset) {
    std::string text;
    std::array<char, 64> piece{};
    while (offset < table.sh_size && text.size() < 4096) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), table.sh_size - offset));
        if (!file.read(table.sh_offset + offset, piece.data(), count)) return {};
        const auto* end = static_cast<const char*>(std::memchr(piece.data(), '\0', count));
        text.append(piece.data(), end != nullptr ? static_cast<std::size_t>(end - piece.data()) : count);
        if (end != nullptr) return text;
        offset += count;
    }
    return {};
}

}  // namespace

StampReading read_stamp(const char* file_name) noexcept {
    StampReading reading;
    const File file{file_name};
    if (file.error() != 0) {
        reading.error = file.error();
        return reading;
    }
    Sections sections{file};
    reading.status = sections.open();
    if (reading.status != StampStatus::found) return reading;
    for (std::uint32_t i = 0; i < sections.size(); ++i) {
        Elf64_Shdr header;
        if (!sections.at(i, header)) {
            reading.status = StampStatus::damaged;
            return reading;
        }
        if (header.sh_type != SHT_PROGBITS || !sections.is_named(header, section_name)) continue;
        reading.status = read_section(file, header, reading);
        return reading;
    }
    reading.status = StampStatus::no_section;
    return reading;
}

std::vector<std::string> needed_libraries(const char* file_name) {
    const File file{file_name};
    Sections sections{file};
    if (file.error() != 0 || sections.open() != StampStatus::found) return {};
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < sections.size(); ++i) {
        Elf64_Shdr dynamic;
        Elf64_Shdr strings;
        if (!sections.at(i, dynamic) || dynamic.sh_type != SHT_DYNAMIC || !sections.at(dynamic.sh_link, strings)) continue;
        // They stand before all others.
        std::array<Elf64_Dyn, 64> entries;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(entries.size(), dynamic.sh_size / sizeof(Elf64_Dyn)));
        if (!file.read(dynamic.sh_offset, entries.data(), count * sizeof(Elf64_Dyn))) continue;
        for (const Elf64_Dyn& entry : std::span{entries}.first(count)) {
            if (entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_NEEDED) names.push_back(string_at(file, strings, entry.d_un.d_val));
        }
    }
    return names;
}

}  // namespace adpipe
