#pragma once

#include "config/source_text.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adpipe {

/// A YAML value, free of the library that read it. Scalars stay text: what `010` or `yes` means is for the reader of the value to say.
struct YamlNode {
    enum class Kind : std::uint8_t { null, scalar, list, map };
    struct Entry;

    Kind kind = Kind::null;
    Mark mark;  ///< of a value that is missing after a key: the key's
    std::string scalar;
    bool quoted = false;  ///< written in quotes or as a block, so it is text even if it looks like a number
    std::vector<YamlNode> items;
    std::vector<Entry> entries;  ///< in the order of the text; keys are unique
};

struct YamlNode::Entry {
    std::string key;
    Mark mark;
    YamlNode value;
};

/// Reads one YAML document of plain lists, maps and scalars. What other readers let pass is an error here: a key that is there twice, a
/// second document, a quote that never ends, merge keys, anchors, aliases, tags, control characters, bytes that are no UTF-8.
/// Nothing is returned if there was an error.
ADPIPE_EXPORT std::optional<YamlNode> read_yaml(const std::shared_ptr<const SourceText>& source, std::vector<Diagnostic>& diagnostics);

}  // namespace adpipe
