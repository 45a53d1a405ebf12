// A working stage behind a stamp that is wrong in the way that BREAK names.
#include <adpipe/plugin.hpp>

#include <cstdlib>

namespace {

/// Runs when the file is loaded, which must not happen.
[[gnu::constructor]] void end_the_program() { std::abort(); }

class Idle : public adpipe::Stage {
public:
    static constexpr const char* name = "render.bad";
    static constexpr const char* summary = "does nothing";
    static constexpr const char* doc = "";
    void run(adpipe::Context&) override {}
};

struct Break {
    bool epoch = false;
    bool revision = false;
    bool boost = false;
    bool sanitizer = false;
    bool debug = false;
    bool names = false;
};
constexpr Break epoch{.epoch = true};
constexpr Break revision{.revision = true};
constexpr Break boost{.boost = true};
constexpr Break sanitizer{.sanitizer = true};
constexpr Break debug{.debug = true};
constexpr Break everything{.epoch = true, .boost = true, .sanitizer = true, .debug = true, .names = true};
constexpr Break names{.names = true};

constexpr AdpipeAbi broken(const Break& what) {
    AdpipeAbi stamp = what.names ? adpipe::detail::make_stamp("bad", "1.0.0", "render.bad Render-Bad render.bad")
                                 : adpipe::detail::make_stamp("bad", "1.0.0", "render.bad");
    if (what.epoch) stamp.epoch += 2;
    if (what.revision) stamp.magic[6] = 2;
    if (what.boost) stamp.boost_version = 108100;
    if (what.sanitizer) stamp.flags ^= ADPIPE_ABI_ADDRESS_SANITIZER;
    if (what.epoch && what.boost) {
        stamp.standard_library = 99;
        stamp.model_layout = 0x0123456789abcdefU;
        stamp.cplusplus = 201703;
    }
    if (what.debug) stamp.flags ^= ADPIPE_ABI_DEBUG_CONTAINERS;
    return stamp;
}

}  // namespace

extern "C" [[gnu::visibility("default"), gnu::used, gnu::section(".adpipe.abi")]] const AdpipeAbi adpipe_abi = broken(BREAK);
extern "C" [[gnu::visibility("default")]] const adpipe::PluginDecl* adpipe_plugin() noexcept {
    static constexpr adpipe::StageDecl stages[] = {adpipe::stage<Idle>()};
    static constexpr adpipe::PluginDecl plugin{sizeof(adpipe::PluginDecl), stages};
    return &plugin;
}
