#pragma once

#include "chunk_stream.hpp"
#include "header.hpp"
#include "trace_builder.hpp"

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace adpipe::kineto {

/// How reading went on the level of the text.
struct Ending {
    StreamEnd stream = StreamEnd::complete;
    bool cut = false;      ///< the text ends inside the document, at `offset`
    bool damaged = false;  ///< what stands at `offset` is no JSON, and nothing behind it could be read
    bool stopped = false;  ///< the user asked to stop
    bool rest = false;     ///< something follows the document, at `offset`
    std::uint64_t offset = 0;
    std::uint64_t damaged_events = 0;  ///< skipped; reading went on behind them
    std::uint64_t damaged_offset = 0;  ///< of the first
    std::uint64_t oversized_events = 0;
};

/// Fills in what the header says, and puts into Trace::limits all that a user should know. Throws Error (ADP-KIN-…) if there is
/// nothing to show for the reading.
void report(const Header& header, const Findings& findings, const Ending& ending, Trace& trace);

/// A file that holds no text at all, or none that could be inflated.
[[noreturn]] void throw_unreadable(const std::filesystem::path& file, const ChunkStream& stream);

/// A file that begins with something else than JSON.
[[noreturn]] void throw_foreign(const std::filesystem::path& file, std::string_view beginning);

}  // namespace adpipe::kineto
