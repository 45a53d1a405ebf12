#pragma once

#include "json_scan.hpp"

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::kineto {

/// What the outermost object says of the recording.
struct Header {
    bool has_events = false;        ///< "traceEvents" is there
    std::vector<std::string> keys;  ///< the first keys, to name a file that is no trace
    std::int64_t base_time = -1;    ///< ns since 1970 that times count from; -1: not said
    std::int64_t rank = -1;
    bool simulated = false;
    std::vector<Device> devices;
    std::vector<std::string> messages;  ///< warnings and errors of the profiler
};

bool is_header_key(std::string_view key);

/// Reads the value of such a key; the cursor stands on it. Called again from the start if the text in memory ends inside.
Scan read_header_member(std::string_view key, Cursor& c, Header& header);

}  // namespace adpipe::kineto
