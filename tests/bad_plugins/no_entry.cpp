// A right stamp, and nothing behind it.
#include <adpipe/plugin.hpp>

extern "C" [[gnu::visibility("default"), gnu::used,
             gnu::section(".adpipe.abi")]] const AdpipeAbi adpipe_abi = adpipe::detail::make_stamp("no_entry", "1.0.0", "render.bad");
