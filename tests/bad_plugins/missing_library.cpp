#include <adpipe/plugin.hpp>

extern "C" int absent_function();

namespace {

class Caller : public adpipe::Stage {
public:
    static constexpr const char* name = "render.caller";
    static constexpr const char* summary = "calls a library that is not there";
    static constexpr const char* doc = "";
    void run(adpipe::Context&) override { (void)absent_function(); }
};

}  // namespace

ADPIPE_PLUGIN("missing_library", "1.0.0", "render.caller", adpipe::stage<Caller>())
