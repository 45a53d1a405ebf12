#pragma once

#include <adpipe/export.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace adpipe {

/// Maps a C++ type to its artifact id, e.g. "graph/1". The id, not the C++ type, is what the host compares: two shared objects need
/// not share RTTI. Specialised in the header of each artifact type; the number rises when the meaning of the type changes.
template <class T>
struct ArtifactTraits;

/// A value that passes from one stage to others. Immutable once published; shared, never copied.
struct Artifact {
    std::string type;                  ///< artifact id
    std::shared_ptr<const void> data;  ///< points to the T whose ArtifactTraits<T>::id is `type`
    std::string producer;              ///< id of the stage that made it
};

/// Wraps `value`; the caller gives up the right to change it.
template <class T>
Artifact make_artifact(std::shared_ptr<const T> value) {
    return Artifact{std::string{ArtifactTraits<T>::id}, std::move(value), {}};
}

}  // namespace adpipe
