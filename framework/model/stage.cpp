#include <adpipe/stage.hpp>

// Key functions: one vtable and one typeinfo of each interface, here.
namespace adpipe {

Context::~Context() = default;
Stage::~Stage() = default;

}  // namespace adpipe
