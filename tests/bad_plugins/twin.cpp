// Built twice: two plugins of one directory with the same stage.
#include <adpipe/plugin.hpp>

namespace {

class Twin : public adpipe::Stage {
public:
    static constexpr const char* name = "render.twin";
    static constexpr const char* summary = "prints a line";
    static constexpr const char* doc = "";
    void run(adpipe::Context& context) override { context.print("twin\n"); }
};

}  // namespace

ADPIPE_PLUGIN("twin", "1.0.0", "render.twin", adpipe::stage<Twin>())
