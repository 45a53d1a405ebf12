// The stamp reader meets files that it did not expect: whatever they hold, it answers.
#include "host/abi_check.hpp"
#include "host/elf_stamp.hpp"
#include "host/plugin_loader.hpp"

#include "unit/temporary_directory.hpp"

#include <adpipe/files.hpp>

#include <doctest/doctest.h>

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

using namespace adpipe;

namespace {

const std::string good_plugin = ADPIPE_BAD_PLUGINS "/toys.so";

StampReading reading_of(const StampReading& like, void (*change)(AdpipeAbi&)) {
    StampReading reading = like;
    change(reading.abi);
    return reading;
}

}  // namespace

TEST_CASE("a plugin's stamp is read without loading it") {
    const StampReading reading = read_stamp(good_plugin.c_str());
    REQUIRE(reading.status == StampStatus::found);
    CHECK(reading.bytes == sizeof(AdpipeAbi));
    CHECK(stamp_text(reading.abi.plugin_name, sizeof reading.abi.plugin_name) == "toys");
    CHECK(stamp_stages(reading.abi) == std::vector<std::string>{"parse.toy", "member.toy", "render.toy"});
    CHECK(abi_mismatches(reading).empty());
}

TEST_CASE("files that are no plugins are told apart") {
    const test::TemporaryDirectory directory;
    CHECK(read_stamp((directory.path() / "absent.so").c_str()).status == StampStatus::unreadable);
    CHECK(read_stamp((directory.path() / "absent.so").c_str()).error == ENOENT);
    CHECK(read_stamp(directory.path().c_str()).error == EISDIR);
    CHECK(read_stamp(directory.write("empty.so", "").c_str()).status == StampStatus::not_elf);
    CHECK(read_stamp(directory.write("text.so", "This is text, and long enough to hold a header of sixty-four bytes.\n").c_str()).status ==
          StampStatus::not_elf);
    CHECK(read_stamp(directory.write("short.so", "\177ELF").c_str()).status == StampStatus::damaged);
    CHECK(read_stamp(ADPIPE_BAD_PLUGINS "/no_section.so").status == StampStatus::no_section);
    CHECK(read_stamp(ADPIPE_BAD_PLUGINS "/truncated_section.so").status == StampStatus::damaged);

    const auto fifo = directory.path() / "fifo.so";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(read_stamp(fifo.c_str()).status == StampStatus::unreadable);  // and it does not wait for a writer
}

TEST_CASE("a plugin for another machine, word size or byte order is recognised") {
    const test::TemporaryDirectory directory;
    const std::string bytes{MappedFile::open(good_plugin)->text()};
    for (const std::size_t field : {4U, 5U, 18U}) {  // class, byte order, machine
        std::string changed = bytes;
        changed[field] = static_cast<char>(changed[field] ^ 3);
        CHECK(read_stamp(directory.write("other.so", changed).c_str()).status == StampStatus::other_machine);
    }
}

TEST_CASE("a plugin cut off anywhere is refused, not trusted") {
    const test::TemporaryDirectory directory;
    const std::string bytes{MappedFile::open(good_plugin)->text()};
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 7) {
        const StampReading reading = read_stamp(directory.write("cut.so", bytes.substr(0, size)).c_str());
        // The table of sections is at the end of the file.
        CHECK(reading.status == (size < 4 ? StampStatus::not_elf : StampStatus::damaged));
    }
}

TEST_CASE("the stamp is found where the names of sections are long") {
    std::string bytes{MappedFile::open(good_plugin)->text()};
    const auto read = [&](auto& into, std::size_t at) { std::memcpy(&into, bytes.data() + at, sizeof into); };
    const auto write = [&](const auto& from, std::size_t at) { std::memcpy(bytes.data() + at, &from, sizeof from); };
    Elf64_Ehdr header;
    read(header, 0);
    const auto section = [&](std::size_t i) { return header.e_shoff + i * sizeof(Elf64_Shdr); };
    Elf64_Shdr names;
    read(names, section(header.e_shstrndx));
    constexpr std::size_t more = 5000;
    const std::string longer = std::string(more, 'x') + bytes.substr(names.sh_offset, names.sh_size);
    names.sh_offset = bytes.size();
    names.sh_size = longer.size();
    bytes += longer;
    write(names, section(header.e_shstrndx));
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr moved;
        read(moved, section(i));
        moved.sh_name += more;
        write(moved, section(i));
    }
    const test::TemporaryDirectory directory;
    const StampReading reading = read_stamp(directory.write("long.so", bytes).c_str());
    REQUIRE(reading.status == StampStatus::found);
    CHECK(stamp_text(reading.abi.plugin_name, sizeof reading.abi.plugin_name) == "toys");
}

TEST_CASE("a header with any byte wrong is read without harm") {
    const test::TemporaryDirectory directory;
    const std::string bytes{MappedFile::open(good_plugin)->text()};
    for (std::size_t at = 0; at < 64; ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(~changed[at]);
        const auto file = directory.write("changed.so", changed);
        CHECK(read_stamp(file.c_str()).bytes <= sizeof(AdpipeAbi));
        (void)needed_libraries(file.c_str());
    }
}

TEST_CASE("every difference is named, expected beside found") {
    const StampReading good = read_stamp(good_plugin.c_str());
    const auto all = abi_mismatches(reading_of(good, [](AdpipeAbi& abi) {
        abi.epoch += 1;
        abi.standard_library += 1;
        abi.boost_version = 108100;
        abi.flags ^= ADPIPE_ABI_DEBUG_CONTAINERS;
        abi.flags |= 1U << 30U;
        abi.cplusplus = 201703;
    }));
    CHECK(all.size() == 6);
    CHECK(std::count(all.begin(), all.end(), "built with Boost 1.81.0, this adpipe uses " + boost_version_text(host_abi().boost_version)) ==
          1);
    CHECK(std::count(all.begin(), all.end(), "built as C++17, this adpipe needs C++20") == 1);
    CHECK(std::count(all.begin(), all.end(), "built with debug containers (_GLIBCXX_DEBUG), this adpipe is not") == 1);
}

TEST_CASE("a stamp of a later format or with fewer bytes is not looked into") {
    const StampReading good = read_stamp(good_plugin.c_str());
    CHECK(abi_mismatches(reading_of(good, [](AdpipeAbi& abi) { abi.magic[6] = 9; })) ==
          std::vector<std::string>{"its stamp has format 9, this adpipe reads format 1"});
    CHECK(abi_mismatches(reading_of(good, [](AdpipeAbi& abi) { abi.magic[0] = 'X'; })) ==
          std::vector<std::string>{"its section .adpipe.abi holds no adpipe stamp"});
    CHECK(abi_mismatches(reading_of(good, [](AdpipeAbi& abi) { abi.size = 40; })) ==
          std::vector<std::string>{"its stamp is cut short (40 of 712 bytes)"});
}

TEST_CASE("a stamp that grew at its end still fits") {
    const StampReading good = read_stamp(good_plugin.c_str());
    CHECK(abi_mismatches(reading_of(good, [](AdpipeAbi& abi) { abi.size += 64; })).empty());
}

TEST_CASE("stage names are checked, and text without an end is not read past its field") {
    StampReading reading = read_stamp(good_plugin.c_str());
    std::fill(std::begin(reading.abi.stages), std::end(reading.abi.stages), 'x');
    CHECK(stamp_text(reading.abi.stages, sizeof reading.abi.stages).size() == sizeof reading.abi.stages);
    CHECK(abi_mismatches(reading).size() == 1);

    CHECK(is_stage_name("member.data_flow2"));
    for (const char* wrong : {"", ".", "member", "member.", ".x", "Member.x", "member.x y", "member.x.y", "2member.x", "member.é"}) {
        CHECK_FALSE(is_stage_name(wrong));
    }
}

TEST_CASE("library versions are decoded") {
    AdpipeAbi abi = host_abi();
    abi.flags |= ADPIPE_ABI_LIBCXX;
    abi.standard_library = 14000;
    CHECK(standard_library_text(abi) == "libc++ 14.0.0");
    abi.standard_library = 190107;
    CHECK(standard_library_text(abi) == "libc++ 19.1.7");
    CHECK(boost_version_text(107400) == "1.74.0");
}

TEST_CASE("the libraries that a plugin asks for are known before it is loaded") {
    const auto libraries = needed_libraries(good_plugin.c_str());
    CHECK(std::any_of(libraries.begin(), libraries.end(), [](const std::string& name) { return name.rfind("libadpipe.so.", 0) == 0; }));
    CHECK(needed_libraries("/nowhere/at/all.so").empty());
}
