#include <adpipe/plugin.hpp>

namespace adpipe {
int function_of_another_release(const std::string& text);
}

namespace {

class Caller : public adpipe::Stage {
public:
    static constexpr const char* name = "render.caller";
    static constexpr const char* summary = "calls a function that nobody defines";
    static constexpr const char* doc = "";
    void run(adpipe::Context& context) override {
        if (adpipe::function_of_another_release("text") != 0) context.print("done\n");
    }
};

}  // namespace

ADPIPE_PLUGIN("undefined_symbol", "1.0.0", "render.caller", adpipe::stage<Caller>())
