#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "host/abi_check.hpp"

#include <fmt/format.h>

namespace adpipe::cli {
namespace {

std::string flags_text(std::uint32_t flags) {
    std::string text = (flags & ADPIPE_ABI_CXX11_STRINGS) != 0 ? "C++11 strings" : "old strings";
    if ((flags & ADPIPE_ABI_DEBUG_CONTAINERS) != 0) text += ", debug containers";
    if ((flags & ADPIPE_ABI_ADDRESS_SANITIZER) != 0) text += ", AddressSanitizer";
    if ((flags & ADPIPE_ABI_THREAD_SANITIZER) != 0) text += ", ThreadSanitizer";
    return text;
}

std::vector<std::vector<std::string>> abi_rows() {
    const AdpipeAbi& abi = host_abi();
    return {{"epoch", fmt::format("{}", abi.epoch)},
            {"model layout", fmt::format("{:016x}", abi.model_layout)},
            {"standard library", standard_library_text(abi)},
            {"flags", flags_text(abi.flags)},
            {"Boost", boost_version_text(abi.boost_version)},
            {"C++", fmt::format("{}", abi.cplusplus)},
            {"compiler", stamp_text(abi.compiler, sizeof abi.compiler) + " (any that agrees with the rest will do)"}};
}

}  // namespace

int cmd_version(const Arguments& arguments) {
    bool with_abi = false;
    CommandLine line{"version", "", "Shows the version of adpipe, and what a plugin must be built like to run in it.",
                     "adpipe version --abi"};
    line.flag("abi", "what a plugin must be built like", &with_abi);
    if (const auto done = line.parse(arguments)) return *done;
    Output::standard().write("adpipe " ADPIPE_VERSION "\n");
    if (with_abi) Output::standard().write(aligned(abi_rows(), "  "));
    return finish(exit_ok);
}

}  // namespace adpipe::cli
