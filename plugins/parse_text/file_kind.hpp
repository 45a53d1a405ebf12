#pragma once

#include "findings.hpp"

#include <cstdint>
#include <string_view>

namespace adpipe::parse {

enum class FileKind : std::uint8_t {
    empty,
    autodeploy,
    fx_readable,
    torch_export,
    layer_json,
    fx_listing,  ///< str(torch.fx.Graph): "graph():" and "%x : [num_users=1] = call_function[target=…]"
    kineto_json,
    other_json,
    sqlite,
    gzip,
    zip,
    elf,
    utf16,
    python,
    markup,
    binary,
    text,
};

/// What a file holds, by its bytes; never by its name.
FileKind file_kind(std::string_view text) noexcept;

/// "an AutoDeploy graph dump", "a gzip-compressed file", …
std::string_view describe(FileKind kind) noexcept;

/// What to do with a file of that kind where a graph text was wanted; empty if there is nothing to say.
std::string_view advice(FileKind kind) noexcept;

/// Reports NUL bytes and invalid UTF-8 in `part`, a part of the text that `findings` is about.
void check_encoding(std::string_view part, Findings& findings);

}  // namespace adpipe::parse
