#include "file_kind.hpp"

#include "characters.hpp"

#include <adpipe/files.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace adpipe::parse {

namespace {

/// Enough to see what a file is: a log or a licence may stand before the graph.
constexpr std::size_t looked_at = 1 << 16;

struct Magic {
    std::string_view bytes;
    FileKind kind;
};

using namespace std::string_view_literals;

constexpr std::array<Magic, 8> magics{{
    {"SQLite format 3\0"sv, FileKind::sqlite},
    {"\x1f\x8b"sv, FileKind::gzip},
    {"PK\x03\x04"sv, FileKind::zip},
    {"\x7f"
     "ELF"sv,
     FileKind::elf},
    {"\xff\xfe"sv, FileKind::utf16},
    {"\xfe\xff"sv, FileKind::utf16},
    {"<?xml"sv, FileKind::markup},
    {"<!DOCTYPE"sv, FileKind::markup},
}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// True if a line of `text` begins with `wanted`, after blanks.
bool has_line(std::string_view text, std::string_view wanted) {
    for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
        if (begin == 0 || text[begin - 1] == '\n') return true;
    }
    return false;
}

/// "class GraphModule(torch.nn.Module):", maybe behind what a log writes before each line.
bool has_module_class(std::string_view head) {
    const std::size_t base = head.find("(torch.nn.Module):");
    if (base == std::string_view::npos) return false;
    const std::string_view until = head.substr(0, base);
    return contains(until.substr(until.rfind('\n') + 1), "class ");  // npos + 1 is 0
}

FileKind json_kind(std::string_view head) {
    if (contains(head, "\"traceEvents\"") || contains(head, "\"ph\"")) return FileKind::kineto_json;
    return looks_like_layer_json(head) ? FileKind::layer_json : FileKind::other_json;
}

}  // namespace

FileKind file_kind(std::string_view text) noexcept {
    if (text.empty()) return FileKind::empty;
    for (const Magic& magic : magics) {
        if (starts_with(text, magic.bytes)) return magic.kind;
    }
    if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);
    const std::string_view head = text.substr(0, looked_at);
    // Before the search for NUL bytes: a dump with a damaged place is still a dump, and is reported with the line.
    if (has_line(head, "# GraphModule: ") || has_line(head, "# GraphModules found: ")) return FileKind::autodeploy;
    if (has_line(head, "ExportedProgram:")) return FileKind::torch_export;
    if (has_module_class(head)) return FileKind::fx_readable;
    if (contains(head, "\0"sv)) return FileKind::binary;
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return text.size() <= looked_at ? FileKind::empty : FileKind::text;
    if (head[first] == '{' || head[first] == '[') return json_kind(head);
    if (contains(head, "= call_function[target=") || contains(head, "= placeholder[target=")) return FileKind::fx_listing;
    if (has_line(head, "def forward(")) return FileKind::fx_readable;
    if (has_line(head, "import ") || has_line(head, "def ")) return FileKind::python;
    if (head[first] == '<') return FileKind::markup;
    return FileKind::text;
}

std::string_view describe(FileKind kind) noexcept {
    switch (kind) {
        case FileKind::empty: return "an empty file";
        case FileKind::autodeploy: return "an AutoDeploy graph dump";
        case FileKind::fx_readable: return "a graph as GraphModule.print_readable() writes it";
        case FileKind::torch_export: return "a graph as str(ExportedProgram) writes it";
        case FileKind::layer_json: return "a layer JSON file";
        case FileKind::fx_listing: return "a graph as str(torch.fx.Graph) writes it";
        case FileKind::kineto_json: return "a PyTorch profiler trace";
        case FileKind::other_json: return "a JSON file of another kind";
        case FileKind::sqlite: return "an SQLite database";
        case FileKind::gzip: return "a gzip-compressed file";
        case FileKind::zip: return "a ZIP archive";
        case FileKind::elf: return "an ELF file (a program or library)";
        case FileKind::utf16: return "a UTF-16 text";
        case FileKind::python: return "a Python source file";
        case FileKind::markup: return "an HTML or XML file";
        case FileKind::binary: return "a binary file";
        case FileKind::text: return "a text of another kind";
    }
    return "a file of another kind";
}

std::string_view advice(FileKind kind) noexcept {
    switch (kind) {
        case FileKind::autodeploy: return "read it with parse.autodeploy, or let parse.auto choose";
        case FileKind::fx_readable: return "read it with parse.fx_readable, or let parse.auto choose";
        case FileKind::torch_export: return "read it with parse.torch_export, or let parse.auto choose";
        case FileKind::layer_json: return "read it with parse.layer_json, which needs no member stage behind it";
        case FileKind::fx_listing: return "no parser reads this form; write the graph with GraphModule.print_readable()";
        case FileKind::kineto_json: return "it is read with trace.kineto, not as a graph";
        case FileKind::sqlite: return "a trace is read with trace.nsys or trace.rocpd, not as a graph";
        case FileKind::gzip: return "decompress it first: gunzip FILE";
        case FileKind::zip: return "a .pt2 archive: load it with torch.export.load and write str(program) to a file";
        case FileKind::utf16: return "convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW";
        case FileKind::empty:
        case FileKind::other_json:
        case FileKind::elf:
        case FileKind::python:
        case FileKind::markup:
        case FileKind::binary:
        case FileKind::text: break;
    }
    return "set AD_DUMP_GRAPHS_DIR for a run of TensorRT-LLM AutoDeploy to get graph dumps";
}

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Length of the valid UTF-8 character that begins at `at`, or 0.
std::size_t valid_character(const char* at, const char* end) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
    const auto left = static_cast<std::size_t>(end - at);
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if (!is_continuation(at[i])) return 0;
    }
    const unsigned second = byte(1);
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second >= 0xa0;
    const bool too_large = first == 0xf4 && second >= 0x90;
    return overlong || surrogate || too_large ? 0 : size;
}

/// First byte at or after `at` that is not ASCII; 32 bytes a step.
const char* skip_ascii(const char* at, const char* end) {
    constexpr std::uint64_t high_bits = 0x8080808080808080U;
    while (end - at >= 32) {
        std::array<std::uint64_t, 4> words;
        std::memcpy(words.data(), at, 32);
        if (((words[0] | words[1] | words[2] | words[3]) & high_bits) != 0) break;
        at += 32;
    }
    while (at != end && static_cast<unsigned char>(*at) < 0x80) ++at;
    return at;
}

const char* end_of_line(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    return newline == nullptr ? end : static_cast<const char*>(newline);
}

}  // namespace

void check_encoding(std::string_view part, Findings& findings) {
    const char* const end = part.data() + part.size();
    for (const char* at = part.data(); at != end && findings.errors() < Findings::limit;) {
        const void* nul = std::memchr(at, '\0', static_cast<std::size_t>(end - at));
        if (nul == nullptr) break;
        const char* const place = static_cast<const char*>(nul);
        findings.error("ADP-TXT-003", "NUL byte in the text", place, "the file is damaged, or is not a text");
        at = end_of_line(place, end);
    }
    for (const char* at = part.data(); (at = skip_ascii(at, end)) != end && findings.errors() < Findings::limit;) {
        const std::size_t size = valid_character(at, end);
        if (size != 0) {
            at += size;
            continue;
        }
        findings.error("ADP-TXT-004", "invalid UTF-8", at, "the file is damaged, or is not UTF-8");
        at = end_of_line(at, end);  // one error a line
    }
}

}  // namespace adpipe::parse
