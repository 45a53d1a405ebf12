// A section that ends in the middle of the stamp's magic.
extern "C" [[gnu::visibility("default"), gnu::used, gnu::section(".adpipe.abi")]] const char adpipe_abi[5] = {'A', 'D', 'P', 'I', 'P'};
