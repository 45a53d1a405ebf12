// What ADPIPE_PLUGIN writes into a plugin file, as the host will read it: plain bytes, before any code of the plugin runs.
#include <adpipe/plugin.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

TEST_CASE("the stamp says what the plugin is and how it was built") {
    constexpr AdpipeAbi stamp = adpipe::detail::make_stamp("demo", "1.2.3", "member.demo render.demo");
    CHECK(std::string_view{stamp.magic} == "ADPIPE\1");
    CHECK(stamp.epoch == ADPIPE_ABI_EPOCH);
    CHECK(stamp.size == sizeof(AdpipeAbi));
    CHECK(stamp.model_layout == adpipe::model_layout());
    CHECK(stamp.boost_version == BOOST_VERSION);
    CHECK(std::string_view{stamp.plugin_name} == "demo");
    CHECK(std::string_view{stamp.plugin_version} == "1.2.3");
    CHECK(std::string_view{stamp.stages} == "member.demo render.demo");
    CHECK(std::string_view{__VERSION__}.substr(0, sizeof(stamp.compiler) - 1) == stamp.compiler);
}

TEST_CASE("the stamp's layout never moves: hosts and plugins of different ages read it") {
    CHECK(offsetof(AdpipeAbi, magic) == 0);
    CHECK(offsetof(AdpipeAbi, epoch) == 8);
    CHECK(offsetof(AdpipeAbi, size) == 12);
    CHECK(offsetof(AdpipeAbi, model_layout) == 16);
    CHECK(offsetof(AdpipeAbi, standard_library) == 24);
    CHECK(offsetof(AdpipeAbi, flags) == 28);
    CHECK(offsetof(AdpipeAbi, boost_version) == 32);
    CHECK(offsetof(AdpipeAbi, cplusplus) == 36);
    CHECK(offsetof(AdpipeAbi, compiler) == 40);
    CHECK(offsetof(AdpipeAbi, plugin_name) == 104);
    CHECK(offsetof(AdpipeAbi, plugin_version) == 168);
    CHECK(offsetof(AdpipeAbi, stages) == 200);
    CHECK(sizeof(AdpipeAbi) == 712);
}
