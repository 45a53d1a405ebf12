#pragma once

#include <adpipe/model/window.hpp>

#include <cstdint>
#include <string_view>

namespace adpipe::window {

/// What the text of a range says of a step: "decode bs=8", "[Executor] _forward_step 3: 1 ctx reqs, 0 gen reqs", "cuda_graph_capture batch_size=4".
struct RangeFacts {
    Phase phase = Phase::unknown;
    std::int64_t batch_size = -1;
};
RangeFacts facts_of_text(std::string_view text);

}  // namespace adpipe::window
