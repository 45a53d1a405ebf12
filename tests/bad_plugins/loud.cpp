// Says when it is loaded, to show that it is not where nobody needs it.
#include <adpipe/plugin.hpp>

#include <cstdio>

namespace {

[[gnu::constructor]] void say_so() { std::fputs("loud.so is loaded\n", stderr); }

class Loud : public adpipe::Stage {
public:
    static constexpr const char* name = "render.loud";
    static constexpr const char* summary = "does nothing";
    static constexpr const char* doc = "";
    void run(adpipe::Context&) override {}
};

}  // namespace

ADPIPE_PLUGIN("loud", "1.0.0", "render.loud", adpipe::stage<Loud>())
