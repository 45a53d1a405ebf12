#include "select_dump/dump_directory.hpp"

#include <adpipe/diagnostic.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;
using namespace adpipe;

namespace {

/// A directory that is gone at the end of the test.
class Scratch {
public:
    Scratch() {
        std::string name = (fs::temp_directory_path() / "adpipe-select-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
        path_ = name;
    }
    ~Scratch() { fs::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void add(const std::string& name, const std::string& content = {}) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << content;
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Message, notes and hint of what `action` throws, with the scratch directory shown as <dir>.
template <class Action>
std::string failure(const Scratch& scratch, Action action) {
    try {
        action();
    } catch (const Error& error) {
        const Diagnostic& d = error.diagnostics().front();
        std::string text = d.code + " " + d.message;
        for (const std::string& note : d.notes) text += " | " + note;
        if (!d.hint.empty()) text += " -> " + d.hint;
        for (std::size_t at = text.find(scratch.path().string()); at != std::string::npos; at = text.find(scratch.path().string())) {
            text.replace(at, scratch.path().string().size(), "<dir>");
        }
        return text;
    }
    return "no failure";
}

std::string name(const Dump& dump) { return dump.file.filename().string(); }

}  // namespace

TEST_CASE("select: the highest number, as a number") {
    const Scratch scratch;
    for (const char* file :
         {"002_export_a.txt", "0999_compile_b.txt", "1000_compile_c.txt", "9_export_d.txt", "99999_notes.md", "readme.txt"})
        scratch.add(file);
    fs::create_directory(scratch.path() / "5000_compile_z.txt");
    const Dump dump = select::choose_final(select::read_directory(scratch.path()));
    CHECK(name(dump) == "1000_compile_c.txt");
    CHECK(dump.number == 1000);
    CHECK(dump.stage == "compile");
    CHECK(dump.transform == "c");
    CHECK(dump.reason == "highest number of 4 dumps");
    CHECK(dump.file.is_absolute());
}

TEST_CASE("select: stage and transform from the name, or from the header where the name leaves it open") {
    const Scratch scratch;
    scratch.add("057_post_load_fusion_fuse_finegrained_fp8_moe.txt");
    scratch.add("058_my_own_stage_fuse_it.txt", "# Transform: fuse_it\r\n# Stage: my_own_stage\r\n");
    const Dump known = select::describe_dump(scratch.path() / "057_post_load_fusion_fuse_finegrained_fp8_moe.txt");
    CHECK(known.stage == "post_load_fusion");
    CHECK(known.transform == "fuse_finegrained_fp8_moe");
    const Dump own = select::describe_dump(scratch.path() / "058_my_own_stage_fuse_it.txt");
    CHECK(own.stage == "my_own_stage");
    CHECK(own.transform == "fuse_it");
}

TEST_CASE("select: two files with the highest number") {
    const Scratch scratch;
    scratch.add("007_compile_a.txt");
    scratch.add("07_compile_b.txt");
    CHECK(failure(scratch, [&] { select::choose_final(select::read_directory(scratch.path())); }) ==
          "ADP-SEL-004 2 dumps in \"<dir>\" have the highest number | 007_compile_a.txt, 07_compile_b.txt -> "
          "the files of two runs are mixed here; name one with select.file");
}

TEST_CASE("select: by transform") {
    const Scratch scratch;
    scratch.add("001_export_export_to_gm.txt");
    scratch.add("050_post_load_fusion_fuse_moe.txt");
    scratch.add("051_post_load_fusion_fuse_finegrained_fp8_moe.txt");
    scratch.add("060_post_load_fusion_cleanup.txt");
    scratch.add("061_compile_cleanup.txt");
    const select::Directory directory = select::read_directory(scratch.path());
    CHECK(name(select::choose_transform(directory, "fuse_moe", 0)) == "050_post_load_fusion_fuse_moe.txt");
    CHECK(name(select::choose_transform(directory, "post_load_fusion_fuse_moe", 0)) == "050_post_load_fusion_fuse_moe.txt");
    CHECK(name(select::choose_transform(directory, "061_compile_cleanup", 0)) == "061_compile_cleanup.txt");
    CHECK(name(select::choose_transform(directory, "cleanup", 1)) == "060_post_load_fusion_cleanup.txt");
    CHECK(name(select::choose_transform(directory, "cleanup", -1)) == "061_compile_cleanup.txt");
    CHECK(select::choose_transform(directory, "cleanup", 2).reason == "transform cleanup, occurrence 2 of 2");
    CHECK(failure(scratch, [&] { select::choose_transform(directory, "cleanup", 0); }) ==
          "ADP-SEL-006 transform \"cleanup\" was dumped 2 times | 060_post_load_fusion_cleanup.txt, 061_compile_cleanup.txt -> "
          "say which with occurrence: 1 is the first, -1 the last");
    CHECK(failure(scratch, [&] { select::choose_transform(directory, "cleanup", 3); }) ==
          "ADP-SEL-007 there is no occurrence 3 of transform \"cleanup\"; it was dumped 2 times | 060_post_load_fusion_cleanup.txt, "
          "061_compile_cleanup.txt");
    CHECK(failure(scratch, [&] { select::choose_transform(directory, "fuse_mo", 0); }) ==
          "ADP-SEL-005 no dump of a transform \"fuse_mo\" in \"<dir>\" | transforms: cleanup, export_to_gm, fuse_finegrained_fp8_moe, "
          "fuse_moe -> "
          "did you mean fuse_moe?");
    CHECK(failure(scratch, [&] { select::choose_transform(directory, "moe", 0); }).substr(0, 11) == "ADP-SEL-005");
}

TEST_CASE("select: directories that hold no dump") {
    const Scratch scratch;
    CHECK(failure(scratch, [&] { select::read_directory(scratch.path()); }) ==
          "ADP-SEL-003 \"<dir>\" holds no dump | it is empty -> "
          "a dump is called NNN_<stage>_<transform>.txt; set AD_DUMP_GRAPHS_DIR for a run of AutoDeploy to get them");
    scratch.add("notes.txt");
    scratch.add("run_a/001_export_x.txt");
    scratch.add("run_b/002_export_x.txt");
    scratch.add("other/x.txt");
    CHECK(failure(scratch, [&] { select::read_directory(scratch.path()); }) ==
          "ADP-SEL-003 \"<dir>\" holds no dump | directories in it that hold dumps: run_a, run_b | files in it: notes.txt -> "
          "name one of them, e.g. directory: <dir>/run_a");
    CHECK(failure(scratch, [&] { select::read_directory(scratch.path() / "run_c/"); }) ==
          "ADP-SEL-001 there is no directory \"<dir>/run_c\" -> did you mean \"<dir>/run_a\"?");
    CHECK(failure(scratch, [&] { select::read_directory(scratch.path() / "notes.txt"); }) ==
          "ADP-SEL-002 \"<dir>/notes.txt\" is a file, not a directory of dumps -> use select.file to read one dump");
}

TEST_CASE("select: a file") {
    const Scratch scratch;
    scratch.add("my graph.txt", "# Transform: t\n");
    const Dump dump = select::choose_file(scratch.path() / "my graph.txt");
    CHECK(dump.number == -1);
    CHECK(dump.transform == "t");
    CHECK(failure(scratch, [&] { select::choose_file(scratch.path()); }) ==
          "ADP-SEL-008 \"<dir>\" is a directory -> select.final reads the last dump of a directory");
    CHECK(failure(scratch, [&] { select::choose_file(scratch.path() / "my_graph.txt"); }) ==
          "ADP-SEL-008 there is no file \"<dir>/my_graph.txt\" -> did you mean \"<dir>/my graph.txt\"?");
}
