// Where plugins are looked for, and which one is taken.
#include "host/registry.hpp"
#include "host/search_path.hpp"

#include "unit/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace adpipe;
namespace fs = std::filesystem;

namespace {

const fs::path plugins = ADPIPE_BAD_PLUGINS;

/// A registry of directories, in that order, as ADPIPE_PLUGIN_PATH gives them.
Registry registry_of(const std::vector<fs::path>& directories) {
    SearchSettings settings;
    for (const fs::path& directory : directories) settings.plugin_path += ":" + directory.string();
    return Registry{search_places(settings)};
}

fs::path copy_into(const test::TemporaryDirectory& directory, const std::string& plugin, const std::string& name) {
    const fs::path target = directory.path() / name;
    fs::create_directories(target.parent_path());
    fs::copy_file(plugins / plugin, target);
    return target;
}

std::vector<std::string> codes_of(const std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> codes;
    for (const Diagnostic& diagnostic : diagnostics) codes.push_back(diagnostic.code);
    return codes;
}

}  // namespace

TEST_CASE("places are looked at in one order, each once, and never the working directory") {
    SearchSettings settings;
    settings.command_line = {"/cli/a.so"};
    settings.config = {"/config/b.so", "/cli/a.so"};
    settings.plugin_path = "/env/one::/env/two:";
    settings.user_data = "/home/x/.local/share/adpipe";
    settings.executable = "/opt/adpipe/bin";
    settings.library = "/opt/adpipe/lib";
    std::vector<std::string> found;
    for (const SearchPlace& place : search_places(settings)) found.push_back(place.path.string());
    CHECK(found == std::vector<std::string>{"/cli/a.so", "/config/b.so", "/env/one", "/env/two", "/home/x/.local/share/adpipe/plugins",
                                            "/opt/adpipe/lib/adpipe/plugins"});
    CHECK(search_places(SearchSettings{}).empty());
}

TEST_CASE("a directory that is not there, or a file that is no plugin, is no trouble where nobody named it") {
    const test::TemporaryDirectory directory;
    directory.write("notes.txt", "text");
    directory.write("text.so", "text");
    fs::create_symlink("/nowhere/at/all.so", directory.path() / "dangling.so");
    copy_into(directory, "no_section.so", "helper.so");
    const Registry registry = registry_of({"/nowhere/at/all", directory.path()});
    CHECK(registry.files().empty());
    CHECK(registry.named_problems().empty());
}

TEST_CASE("what the user named must be there and be a plugin") {
    const test::TemporaryDirectory directory;
    SearchSettings settings;
    settings.command_line = {"/nowhere/at/all.so", directory.write("text.so", "text"), plugins / "no_section.so",
                             plugins / "wrong_boost.so", plugins / "toys.so"};
    const Registry registry{search_places(settings)};
    CHECK(codes_of(registry.named_problems()) == std::vector<std::string>{"ADP-PLUG-001", "ADP-PLUG-002", "ADP-PLUG-002", "ADP-PLUG-003"});
    CHECK(registry.stage_names() == std::vector<std::string>{"member.toy", "parse.toy", "render.toy"});
}

TEST_CASE("plugins are loaded only when one of their stages is asked for") {
    Registry registry = registry_of({plugins});
    const auto is_loaded = [](const PluginFile& file) { return file.decl != nullptr; };
    CHECK(std::none_of(registry.files().begin(), registry.files().end(), is_loaded));
    const Registry::Found found = registry.find("render.toy");
    REQUIRE(found.stage != nullptr);
    CHECK(std::string{found.stage->name} == "render.toy");
    CHECK(std::count_if(registry.files().begin(), registry.files().end(), is_loaded) == 1);
}

TEST_CASE("the earlier place wins, with a note, a refused plugin there does not hide a good one") {
    const test::TemporaryDirectory first;
    const test::TemporaryDirectory second;
    copy_into(first, "twin_a.so", "mine.so");
    copy_into(second, "twin_b.so", "theirs.so");
    Registry registry = registry_of({first.path(), second.path()});
    const Registry::Found twin = registry.find("render.twin");
    REQUIRE(twin.plugin != nullptr);
    CHECK(twin.plugin->path.filename() == "mine.so");
    CHECK(codes_of(twin.diagnostics) == std::vector<std::string>{"ADP-PLUG-009"});

    const test::TemporaryDirectory stale;
    copy_into(stale, "wrong_boost.so", "stale.so");
    const test::TemporaryDirectory fresh;
    copy_into(fresh, "twin_a.so", "fresh.so");
    Registry refused = registry_of({stale.path(), fresh.path()});
    const Registry::Found bad = refused.find("render.bad");
    CHECK(bad.stage == nullptr);
    CHECK(codes_of(bad.diagnostics) == std::vector<std::string>{"ADP-PLUG-003"});
}

TEST_CASE("the same stage twice in one directory is an error that names both files, and harms no other stage") {
    const test::TemporaryDirectory directory;
    copy_into(directory, "twin_a.so", "a.so");
    copy_into(directory, "twin_b.so", "b.so");
    copy_into(directory, "toys.so", "toys.so");
    Registry registry = registry_of({directory.path()});
    const Registry::Found twin = registry.find("render.twin");
    CHECK(twin.stage == nullptr);
    REQUIRE(codes_of(twin.diagnostics) == std::vector<std::string>{"ADP-PLUG-008"});
    CHECK(twin.diagnostics[0].notes ==
          std::vector<std::string>{(directory.path() / "a.so").string(), (directory.path() / "b.so").string()});
    CHECK(registry.find("render.toy").stage != nullptr);
}

TEST_CASE("one file reached by two ways is one plugin") {
    const test::TemporaryDirectory directory;
    copy_into(directory, "twin_a.so", "real/twin.so");
    fs::create_directory_symlink(directory.path() / "real", directory.path() / "link");
    Registry registry = registry_of({directory.path() / "real", directory.path() / "link"});
    CHECK(registry.files().size() == 1);
    CHECK(registry.find("render.twin").diagnostics.empty());
}

TEST_CASE("sanitizers, and everything at once") {
    SearchSettings settings;
    settings.command_line = {plugins / "sanitizer_flag.so", plugins / "wrong_everything.so"};
    const auto problems = Registry{search_places(settings)}.named_problems();
    REQUIRE(problems.size() == 2);
    REQUIRE(problems[0].notes.size() == 1);
    CHECK(problems[0].notes[0].find("AddressSanitizer") != std::string::npos);
    CHECK(problems[1].notes.size() == 9);
}

TEST_CASE("a plugin whose declaration is wrong is refused whole, with every fault") {
    const auto faults_of = [](const char* plugin, const char* stage) {
        SearchSettings settings;
        settings.command_line = {plugins / plugin};
        Registry registry{search_places(settings)};
        const Registry::Found found = registry.find(stage);
        CHECK(found.stage == nullptr);
        REQUIRE(found.diagnostics.size() == 1);
        return found.diagnostics[0];
    };
    CHECK(faults_of("null_decl.so", "render.bad").notes == std::vector<std::string>{"adpipe_plugin() returned null"});
    CHECK(faults_of("stage_list_mismatch.so", "render.bad").notes ==
          std::vector<std::string>{"its stamp names the stages [render.bad], its declaration [render.other]"});
    CHECK(faults_of("duplicate_stage.so", "render.bad").notes.size() == 2);
    CHECK(faults_of("faulty_parts.so", "render.bad").notes.size() == 7);
    CHECK(faults_of("no_entry.so", "render.bad").code == "ADP-PLUG-006");
    CHECK(faults_of("undefined_symbol.so", "render.caller").code == "ADP-PLUG-005");
    CHECK(faults_of("missing_library.so", "render.caller").code == "ADP-PLUG-005");
}

TEST_CASE("a stage of the program itself comes before any plugin's") {
    static constexpr StageDecl own{sizeof(StageDecl), "render.toy", "mine", "", {}, {}, {}, nullptr};
    Registry registry = registry_of({plugins});
    registry.add(own);
    CHECK(registry.find("render.toy").stage == &own);
    CHECK(registry.find("render.absent").stage == nullptr);
    CHECK(registry.find("render.absent").diagnostics.empty());
}
