#pragma once

#include <adpipe/abi.h>
#include <adpipe/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace adpipe {

enum class StampStatus : std::uint8_t {
    found,
    unreadable,     ///< cannot be opened or read: see `error`
    not_elf,        ///< no ELF file: a text file, an archive, an empty file
    other_machine,  ///< an ELF file for another processor, word size or byte order
    no_section,     ///< a shared object that is no adpipe plugin
    damaged,        ///< an ELF file whose tables point outside of it, or a section too short for a stamp
};

/// What read_stamp found in a file.
struct StampReading {
    StampStatus status = StampStatus::unreadable;
    int error = 0;            ///< errno, where the file cannot be read
    std::uint32_t bytes = 0;  ///< how much of `abi` the section held; the rest is zero
    AdpipeAbi abi{};
};

/// Reads the section ".adpipe.abi" of an ELF64 file without loading it. Total: whatever the bytes are, it answers and never throws.
ADPIPE_EXPORT StampReading read_stamp(const char* file) noexcept;

/// The shared libraries that an ELF64 file asks for (DT_NEEDED); empty where they cannot be read.
ADPIPE_EXPORT std::vector<std::string> needed_libraries(const char* file);

}  // namespace adpipe
