#pragma once

#include "chunk_stream.hpp"
#include "event.hpp"

#include <adpipe/model/trace.hpp>

#include <filesystem>
#include <functional>

namespace adpipe::kineto {

struct ReadOptions {
    PythonEvents python = PythonEvents::modules;
    /// Also what operators were called with: shapes, types, call stacks. Slower: these are most of the text of a trace that has them.
    bool details = false;
    /// Text is read in pieces of this size; smaller ones serve to test their borders.
    std::size_t chunk_size = ChunkStream::usual_chunk_size;
    /// Asked now and then; true stops reading with what is there.
    std::function<bool()> stop = [] { return false; };
};

/// Reads a PyTorch profiler trace. What the file lacks or what was repaired is in Trace::limits. Throws Error (ADP-KIN-…, ADP-IO-…)
/// if it is no such trace, or nothing of it can be read.
Trace read_trace(const std::filesystem::path& file, const ReadOptions& options = {});

}  // namespace adpipe::kineto
