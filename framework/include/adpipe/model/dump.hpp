#pragma once

#include <adpipe/artifact.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace adpipe {

/// A graph text chosen for reading.
struct Dump {
    std::filesystem::path file;  ///< absolute
    /// From the file name `NNN_<stage>_<transform>.txt`; -1 and empty where it has another form.
    std::int64_t number = -1;
    std::string stage;
    std::string transform;
    std::string reason;  ///< why this one, e.g. "highest number of 92 dumps"
};

template <>
struct ArtifactTraits<Dump> {
    static constexpr const char* id = "dump/1";
};

}  // namespace adpipe
