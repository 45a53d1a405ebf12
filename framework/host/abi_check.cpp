#include "host/abi_check.hpp"

#include <adpipe/plugin.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace adpipe {
namespace {

constexpr AdpipeAbi own_abi = detail::make_stamp("adpipe", ADPIPE_VERSION, "");

struct FlagText {
    std::uint32_t flag;
    const char* what;
};
constexpr FlagText flag_texts[] = {
    {ADPIPE_ABI_CXX11_STRINGS, "the C++11 string ABI (_GLIBCXX_USE_CXX11_ABI=1)"},
    {ADPIPE_ABI_DEBUG_CONTAINERS, "debug containers (_GLIBCXX_DEBUG)"},
    {ADPIPE_ABI_ADDRESS_SANITIZER, "AddressSanitizer"},
    {ADPIPE_ABI_THREAD_SANITIZER, "ThreadSanitizer"},
};
constexpr std::uint32_t known_flags = ADPIPE_ABI_CXX11_STRINGS | ADPIPE_ABI_DEBUG_CONTAINERS | ADPIPE_ABI_ADDRESS_SANITIZER |
                                      ADPIPE_ABI_THREAD_SANITIZER | ADPIPE_ABI_LIBCXX;

void check_flags(std::uint32_t found, std::vector<std::string>& reasons) {
    for (const FlagText& text : flag_texts) {
        const bool has = (found & text.flag) != 0;
        if (has == ((own_abi.flags & text.flag) != 0)) continue;
        reasons.push_back(has ? fmt::format("built with {}, this adpipe is not", text.what)
                              : fmt::format("built without {}, this adpipe is built with it", text.what));
    }
    if ((found & ~known_flags) != 0) {
        reasons.push_back(fmt::format("built with properties that this adpipe does not know (flags {:#x})", found & ~known_flags));
    }
}

void check_names(const AdpipeAbi& abi, std::vector<std::string>& reasons) {
    if (stamp_text(abi.plugin_name, sizeof abi.plugin_name).empty()) reasons.emplace_back("its stamp names no plugin");
    const auto stages = stamp_stages(abi);
    if (stages.empty()) reasons.emplace_back("its stamp names no stage");
    for (auto name = stages.begin(); name != stages.end(); ++name) {
        if (!is_stage_name(*name)) {
            reasons.push_back(fmt::format("its stamp holds '{}', which is no stage name (<kind>.<name> in lower case)", *name));
        } else if (std::find(stages.begin(), name, *name) != name) {
            reasons.push_back(fmt::format("its stamp names the stage '{}' twice", *name));
        }
    }
}

}  // namespace

const AdpipeAbi& host_abi() noexcept { return own_abi; }

std::string boost_version_text(std::uint32_t version) {
    return fmt::format("{}.{}.{}", version / 100000, version / 100 % 1000, version % 100);
}

std::string standard_library_text(const AdpipeAbi& abi) {
    if ((abi.flags & ADPIPE_ABI_LIBCXX) == 0) return fmt::format("libstdc++ {}", abi.standard_library);
    const std::uint32_t version = abi.standard_library;  // 14000 for 14.0.0, 190100 for 19.1.0
    const std::uint32_t unit = version >= 100000 ? 10000 : 1000;
    return fmt::format("libc++ {}.{}.{}", version / unit, version % unit / (unit / 100), version % (unit / 100));
}

std::string stamp_text(const char* field, std::size_t capacity) {
    std::string text;
    for (std::size_t i = 0; i < capacity && field[i] != '\0'; ++i) {
        if (field[i] > ' ' - 1 && field[i] != '\x7f') text.push_back(field[i]);
    }
    return text;
}

std::vector<std::string> stamp_stages(const AdpipeAbi& abi) {
    std::vector<std::string> names;
    const std::string text = stamp_text(abi.stages, sizeof abi.stages);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        if (end > begin) names.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

bool is_stage_name(std::string_view name) noexcept {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    const auto is_word = [](std::string_view word) {
        if (word.empty() || word.front() < 'a' || word.front() > 'z') return false;
        return std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    };
    return is_word(name.substr(0, dot)) && is_word(name.substr(dot + 1));
}

std::vector<std::string> abi_mismatches(const StampReading& reading) {
    const AdpipeAbi& found = reading.abi;
    constexpr std::size_t revision = std::size(ADPIPE_ABI_MAGIC) - 2;  // the last byte of the magic; the ones before it name adpipe
    if (std::memcmp(found.magic, ADPIPE_ABI_MAGIC, revision) != 0) return {"its section .adpipe.abi holds no adpipe stamp"};
    if (found.magic[revision] != ADPIPE_ABI_MAGIC[revision]) {
        return {fmt::format("its stamp has format {}, this adpipe reads format {}",
                            static_cast<unsigned>(static_cast<unsigned char>(found.magic[revision])),
                            static_cast<unsigned>(ADPIPE_ABI_MAGIC[revision]))};
    }
    std::vector<std::string> reasons;
    if (found.epoch != own_abi.epoch) {
        reasons.push_back(fmt::format("built for {} adpipe ABI (epoch {}, this adpipe has {})",
                                      found.epoch > own_abi.epoch ? "a newer" : "an older", found.epoch, own_abi.epoch));
    }
    if (found.size < sizeof(AdpipeAbi) || reading.bytes < sizeof(AdpipeAbi)) {
        reasons.push_back(fmt::format("its stamp is cut short ({} of {} bytes)", std::min(found.size, reading.bytes), sizeof(AdpipeAbi)));
        return reasons;  // the fields below may not be there
    }
    if (found.model_layout != own_abi.model_layout) {
        reasons.push_back(fmt::format("built against other adpipe headers (model layout {:016x}, this adpipe has {:016x})",
                                      found.model_layout, own_abi.model_layout));
    }
    if (standard_library_text(found) != standard_library_text(own_abi)) {
        reasons.push_back(fmt::format("built with {}, this adpipe uses {}", standard_library_text(found), standard_library_text(own_abi)));
    }
    check_flags(found.flags, reasons);
    if (found.boost_version != own_abi.boost_version) {
        reasons.push_back(fmt::format("built with Boost {}, this adpipe uses {}", boost_version_text(found.boost_version),
                                      boost_version_text(own_abi.boost_version)));
    }
    if (found.cplusplus < own_abi.cplusplus) {
        reasons.push_back(
            fmt::format("built as C++{}, this adpipe needs C++{}", found.cplusplus / 100 % 100, own_abi.cplusplus / 100 % 100));
    }
    check_names(found, reasons);
    return reasons;
}

}  // namespace adpipe
