/* The ABI stamp: what the host reads in a plugin file before any of the plugin's code runs.
 *
 * A plugin is same-toolchain C++: it shares classes, containers and the Boost.Graph model with the host. Whether it was built
 * that way is decided from the plain bytes below, in the ELF section ".adpipe.abi", before dlopen. The struct only ever grows
 * at its end; `size` tells how much of it a plugin has. Fixed-width integers in the machine's byte order, NUL-padded text. */
#ifndef ADPIPE_ABI_H
#define ADPIPE_ABI_H

#include <stdint.h>

#define ADPIPE_ABI_MAGIC "ADPIPE\1"
/* Bumped on every incompatible change of a header under adpipe/. */
#define ADPIPE_ABI_EPOCH 2u

enum {
    ADPIPE_ABI_CXX11_STRINGS = 1u << 0,    /* _GLIBCXX_USE_CXX11_ABI */
    ADPIPE_ABI_DEBUG_CONTAINERS = 1u << 1, /* _GLIBCXX_DEBUG */
    ADPIPE_ABI_ADDRESS_SANITIZER = 1u << 2,
    ADPIPE_ABI_THREAD_SANITIZER = 1u << 3,
    ADPIPE_ABI_LIBCXX = 1u << 4 /* LLVM's libc++ instead of libstdc++ */
};

struct AdpipeAbi {
    char magic[8];             /* ADPIPE_ABI_MAGIC */
    uint32_t epoch;            /* ADPIPE_ABI_EPOCH */
    uint32_t size;             /* sizeof(struct AdpipeAbi) */
    uint64_t model_layout;     /* adpipe::model_layout(): sizes and offsets of the types that cross the boundary */
    uint32_t standard_library; /* _GLIBCXX_RELEASE or _LIBCPP_VERSION */
    uint32_t flags;            /* ADPIPE_ABI_… bits */
    uint32_t boost_version;    /* BOOST_VERSION */
    uint32_t cplusplus;        /* __cplusplus */
    char compiler[64];         /* __VERSION__, for information only */
    char plugin_name[64];
    char plugin_version[32];
    char stages[512]; /* stage names, separated by single spaces */
};

#endif
