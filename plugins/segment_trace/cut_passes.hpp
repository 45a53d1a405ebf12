#pragma once

// Passes of which the recording has a part only.

#include "programs.hpp"

namespace segment {

/// Leaves out eager passes that the beginning or the end of the recording cut off: the first or last of their process
/// and device, with fewer layers than whole passes have there, and with a part of a layer, or nothing, where these have
/// what comes before or behind all layers. Says so in Step::missing and Step::left_out. Nothing is left out where no pass is whole.
void leave_out_cut_passes(Programs& found);

}  // namespace segment
