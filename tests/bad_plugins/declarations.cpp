// A right stamp, and a declaration that is wrong in the way that BREAK names.
#include <adpipe/plugin.hpp>

namespace {

class Idle : public adpipe::Stage {
public:
    static constexpr const char* name = "render.bad";
    static constexpr const char* summary = "does nothing";
    static constexpr const char* doc = "";
    void run(adpipe::Context&) override {}
};

enum class Break { null_decl, stage_list, duplicate, parts };
using enum Break;
constexpr Break what = BREAK;

constexpr adpipe::PortDecl faulty_ports[] = {{"graph", "graph/1", adpipe::PortUse::required, ""},
                                             {"graph", "graph/1", adpipe::PortUse::required, ""},
                                             {"", nullptr, adpipe::PortUse::required, ""}};
constexpr adpipe::OptionDecl faulty_options[] = {{"depth", nullptr, adpipe::OptionType::integer, false, nullptr, 0, 1, nullptr, nullptr}};

constexpr adpipe::StageDecl good = adpipe::stage<Idle>();
constexpr adpipe::StageDecl renamed{sizeof(adpipe::StageDecl), "render.other", "does nothing", "", {}, {}, {}, good.create};
constexpr adpipe::StageDecl faulty{sizeof(adpipe::StageDecl), "member.bad", nullptr, "", faulty_ports, {}, faulty_options, nullptr};

}  // namespace

extern "C" [[gnu::visibility("default"), gnu::used,
             gnu::section(".adpipe.abi")]] const AdpipeAbi adpipe_abi = adpipe::detail::make_stamp("declarations", "1.0.0", "render.bad");

extern "C" [[gnu::visibility("default")]] const adpipe::PluginDecl* adpipe_plugin() noexcept {
    static constexpr adpipe::StageDecl mismatched[] = {renamed};
    static constexpr adpipe::StageDecl duplicated[] = {good, good};
    static constexpr adpipe::StageDecl broken[] = {faulty};
    static constexpr adpipe::PluginDecl plugins[] = {{sizeof(adpipe::PluginDecl), mismatched},
                                                     {sizeof(adpipe::PluginDecl), duplicated},
                                                     {sizeof(adpipe::PluginDecl), broken}};
    return what == null_decl ? nullptr : &plugins[static_cast<int>(what) - 1];
}
