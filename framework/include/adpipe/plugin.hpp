#pragma once

// The one header that a plugin includes beside the artifact types that it uses.

#include <adpipe/abi.h>
#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/options.hpp>
#include <adpipe/stage.hpp>
#include <adpipe/model/layout.hpp>

#include <boost/version.hpp>

#include <cstddef>

namespace adpipe::detail {

constexpr std::uint32_t abi_flags() {
    std::uint32_t flags = 0;
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
    flags |= ADPIPE_ABI_CXX11_STRINGS;
#endif
#ifdef _GLIBCXX_DEBUG
    flags |= ADPIPE_ABI_DEBUG_CONTAINERS;
#endif
#if defined(__SANITIZE_ADDRESS__)
    flags |= ADPIPE_ABI_ADDRESS_SANITIZER;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    flags |= ADPIPE_ABI_ADDRESS_SANITIZER;
#endif
#endif
#if defined(__SANITIZE_THREAD__)
    flags |= ADPIPE_ABI_THREAD_SANITIZER;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    flags |= ADPIPE_ABI_THREAD_SANITIZER;
#endif
#endif
#ifdef _LIBCPP_VERSION
    flags |= ADPIPE_ABI_LIBCXX;
#endif
    return flags;
}

constexpr std::uint32_t standard_library_version() {
#ifdef _LIBCPP_VERSION
    return _LIBCPP_VERSION;
#else
    return _GLIBCXX_RELEASE;
#endif
}

/// A text too long for its field is a compile error, not a cut.
template <std::size_t Capacity, std::size_t Size>
constexpr void copy_text(char (&field)[Capacity], const char (&text)[Size]) {
    static_assert(Size <= Capacity, "text too long for the ABI stamp");
    for (std::size_t i = 0; i < Size; ++i) field[i] = text[i];
}

template <std::size_t Name, std::size_t Version, std::size_t Stages>
constexpr AdpipeAbi make_stamp(const char (&name)[Name], const char (&version)[Version], const char (&stages)[Stages]) {
    AdpipeAbi stamp{};
    copy_text(stamp.magic, ADPIPE_ABI_MAGIC);
    stamp.epoch = ADPIPE_ABI_EPOCH;
    stamp.size = sizeof(AdpipeAbi);
    stamp.model_layout = model_layout();
    stamp.standard_library = standard_library_version();
    stamp.flags = abi_flags();
    stamp.boost_version = BOOST_VERSION;
    stamp.cplusplus = static_cast<std::uint32_t>(__cplusplus);
    for (std::size_t i = 0; i + 1 < sizeof(stamp.compiler) && __VERSION__[i] != '\0'; ++i) stamp.compiler[i] = __VERSION__[i];
    copy_text(stamp.plugin_name, name);
    copy_text(stamp.plugin_version, version);
    copy_text(stamp.stages, stages);
    return stamp;
}

}  // namespace adpipe::detail

/// The last line of a plugin: name, version, the stage names separated by single spaces (the host reads them without running the
/// plugin's code), then one adpipe::stage<T>() per stage, in the same order.
#define ADPIPE_PLUGIN(plugin_name, plugin_version, stage_names, ...)                                                                       \
    extern "C"                                                                                                                             \
        [[gnu::visibility("default"), gnu::used,                                                                                           \
          gnu::section(".adpipe.abi")]] const AdpipeAbi adpipe_abi = adpipe::detail::make_stamp(plugin_name, plugin_version, stage_names); \
    extern "C" [[gnu::visibility("default")]] const adpipe::PluginDecl* adpipe_plugin() noexcept {                                         \
        static constexpr adpipe::StageDecl stages[] = {__VA_ARGS__};                                                                       \
        static constexpr adpipe::PluginDecl plugin{sizeof(adpipe::PluginDecl), stages};                                                    \
        return &plugin;                                                                                                                    \
    }
