#define BOOST_DLL_USE_STD_FS
#include "host/plugin_loader.hpp"

#include "host/abi_check.hpp"

#include <boost/core/demangle.hpp>
#include <boost/dll/shared_library.hpp>
#include <fmt/format.h>

#include <dlfcn.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

namespace adpipe {
namespace {

constexpr const char* rebuild_hint = "rebuild it against this adpipe's SDK (`adpipe version --abi` prints what is expected)";

Diagnostic refusal(const std::filesystem::path& file, std::string code, std::string message) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    return diagnostic;
}

// ---- why dlopen failed

/// "undefined symbol: _ZN6adpipe5Stage3runEv" → the text after the colon.
std::string_view text_after(std::string_view text, std::string_view lead) {
    const std::size_t at = text.find(lead);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + lead.size());
    return text.substr(0, text.find_first_of(" ,\n"));
}

Diagnostic load_failure(const std::filesystem::path& file, std::string system_message) {
    if (system_message.rfind(file.string() + ": ", 0) == 0) system_message.erase(0, file.string().size() + 2);
    Diagnostic diagnostic = refusal(file, "ADP-PLUG-005", "the plugin cannot be loaded: " + system_message);
    constexpr std::string_view missing_library = ": cannot open shared object file";
    if (const auto symbol = text_after(system_message, "undefined symbol: "); !symbol.empty()) {
        diagnostic.notes.push_back("no library defines " + boost::core::demangle(std::string{symbol}.c_str()));
        diagnostic.hint =
            "link the library that defines it, with -Wl,--no-undefined to see this when the plugin is built; if it is "
            "adpipe's own, rebuild the plugin against this SDK";
    } else if (const std::size_t end = system_message.find(missing_library); end != std::string::npos) {
        diagnostic.notes.push_back("it needs " + system_message.substr(0, end) + ", which the system does not find");
        diagnostic.hint = "install that library, or link the plugin with an RPATH that leads to it";
    } else if (system_message.find("' not found") != std::string::npos) {
        diagnostic.hint = "the plugin was built on a newer system; build it on this one";
    }
    return diagnostic;
}

std::string library_version_fault(const std::filesystem::path& file) {
    constexpr std::string_view any = "libadpipe.so";
    for (const std::string& library : needed_libraries(file.c_str())) {
        if (library.compare(0, any.size(), any) == 0 && library != ADPIPE_SONAME) {
            return fmt::format("linked with {}, this adpipe is {}", library, ADPIPE_SONAME);
        }
    }
    return {};
}

// ---- what a declaration must hold

class DeclarationCheck {
public:
    void check(const StageDecl& stage) {
        if (stage.size < sizeof(StageDecl)) return fault("declares a stage of an older layout");
        if (stage.name == nullptr || !is_stage_name(stage.name)) return fault("declares a stage without a proper name");
        const std::string name = stage.name;
        if (!names_.insert(name).second) fault(fmt::format("declares the stage '{}' twice", name));
        if (stage.summary == nullptr || stage.doc == nullptr) fault(fmt::format("{}: summary or doc is null", name));
        if (stage.create == nullptr) fault(fmt::format("{}: create is null", name));
        check_ports(name, stage.inputs, "input");
        check_ports(name, stage.outputs, "output");
        check_options(name, stage.options);
        check_kind(name, stage.outputs);
    }
    void fault(std::string text) { faults_.push_back(std::move(text)); }
    std::vector<std::string> take() { return std::move(faults_); }

private:
    void check_ports(const std::string& stage, std::span<const PortDecl> ports, const char* what) {
        std::set<std::string_view> names;
        for (const PortDecl& port : ports) {
            if (port.name == nullptr || port.type == nullptr || port.doc == nullptr || *port.name == '\0' ||
                std::string_view{port.type}.find('/') == std::string_view::npos) {
                fault(fmt::format("{}: an {} port without a proper name, type or doc", stage, what));
            } else if (!names.insert(port.name).second) {
                fault(fmt::format("{}: the {} port '{}' is there twice", stage, what, port.name));
            }
        }
    }

    void check_options(const std::string& stage, std::span<const OptionDecl> options) {
        std::set<std::string_view> names;
        for (const OptionDecl& option : options) {
            if (option.name == nullptr || *option.name == '\0' || option.doc == nullptr || option.assign == nullptr ||
                option.default_value == nullptr || option.type > OptionType::path_list) {
                fault(fmt::format("{}: an option without a proper name, doc, type or binding", stage));
            } else if (!names.insert(option.name).second) {
                fault(fmt::format("{}: the option '{}' is there twice", stage, option.name));
            }
        }
    }

    /// Stages of one kind can stand in for one another, so they must make the same artifact. What is analysed is numbers of vertices, or texts of
    /// kernels: their names, their operators.
    void check_kind(const std::string& stage, std::span<const PortDecl> outputs) {
        struct KindOutput {
            std::string_view kind;
            std::vector<std::string_view> artifacts;  ///< one of these
        };
        const KindOutput kinds[] = {{"select", {"dump/1"}},
                                    {"parse", {"graph/1"}},
                                    {"member", {"layers/1"}},
                                    {"trace", {"trace/1"}},
                                    {"window", {"window/1"}},
                                    {"align", {"attribution/1"}},
                                    {"analyze", {"metrics/1", "kernel_names/1", "operators/1"}},
                                    {"segment", {"attribution/1"}}};
        const std::string_view kind = std::string_view{stage}.substr(0, stage.find('.'));
        for (const KindOutput& known : kinds) {
            if (known.kind != kind) continue;
            const bool makes_it = std::any_of(outputs.begin(), outputs.end(), [&](const PortDecl& port) {
                return port.type != nullptr &&
                       std::find(known.artifacts.begin(), known.artifacts.end(), port.type) != known.artifacts.end();
            });
            if (!makes_it) fault(fmt::format("{}: a {} stage has an output of type {}", stage, kind, fmt::join(known.artifacts, " or ")));
        }
    }

    std::set<std::string> names_;
    std::vector<std::string> faults_;
};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace

std::optional<Diagnostic> stamp_refusal(const std::filesystem::path& file, const StampReading& reading) {
    switch (reading.status) {
        case StampStatus::found: break;
        case StampStatus::unreadable:
            return refusal(file, "ADP-PLUG-001", "the plugin cannot be read: " + std::generic_category().message(reading.error));
        case StampStatus::not_elf: return refusal(file, "ADP-PLUG-002", "no plugin: this is no shared object (ELF file)");
        case StampStatus::no_section: {
            Diagnostic diagnostic = refusal(file, "ADP-PLUG-002", "no plugin: it has no section .adpipe.abi");
            diagnostic.hint = "a plugin ends with one ADPIPE_PLUGIN(…) line, and is built by adpipe_add_plugin()";
            return diagnostic;
        }
        case StampStatus::other_machine: return refusal(file, "ADP-PLUG-004", "the plugin is built for another processor than this adpipe");
        case StampStatus::damaged:
            return refusal(file, "ADP-PLUG-004", "the plugin file is damaged: its tables point outside of it, or its stamp is cut short");
    }
    auto reasons = abi_mismatches(reading);
    if (reasons.empty()) return std::nullopt;
    Diagnostic diagnostic = refusal(file, "ADP-PLUG-003", "refused: the plugin is not built like this adpipe");
    diagnostic.notes = std::move(reasons);
    diagnostic.hint = rebuild_hint;
    return diagnostic;
}

std::vector<std::string> declaration_faults(const PluginDecl* plugin, const std::vector<std::string>& stamp_stages) {
    if (plugin == nullptr) return {"adpipe_plugin() returned null"};
    if (plugin->size < sizeof(PluginDecl)) return {"adpipe_plugin() returned a declaration of an older layout"};
    DeclarationCheck check;
    std::vector<std::string> names;
    for (const StageDecl& stage : plugin->stages) {
        check.check(stage);
        names.emplace_back(stage.name == nullptr ? "(null)" : stage.name);
    }
    if (names != stamp_stages) {
        check.fault(fmt::format("its stamp names the stages [{}], its declaration [{}]", joined(stamp_stages), joined(names)));
    }
    return check.take();
}

const PluginDecl& load_plugin(const std::filesystem::path& file, const std::vector<std::string>& stamp_stages) {
    if (std::string fault = library_version_fault(file); !fault.empty()) {
        Diagnostic diagnostic = refusal(file, "ADP-PLUG-003", "refused: the plugin is not built like this adpipe");
        diagnostic.notes.push_back(std::move(fault));
        diagnostic.hint = rebuild_hint;
        throw Error(std::move(diagnostic));
    }
    // Local: a plugin's symbols are its own business. Never deleted: its code, static data and destructors stay valid until the end.
    const auto mode = static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    boost::dll::shared_library library;
    std::error_code error;
    library.load(file, error, mode);
    if (error) {
        const char* system_message = ::dlerror();  // the error code itself only says "bad file descriptor"
        throw Error(load_failure(file, system_message != nullptr ? system_message : error.message()));
    }
    if (!library.has("adpipe_plugin")) {
        Diagnostic diagnostic = refusal(file, "ADP-PLUG-006", "the plugin has a stamp but exports no adpipe_plugin()");
        diagnostic.hint = "write ADPIPE_PLUGIN(…) in one source file, and export nothing by hand";
        throw Error(std::move(diagnostic));
    }
    const PluginDecl* const plugin = library.get<const PluginDecl*()>("adpipe_plugin")();
    if (auto faults = declaration_faults(plugin, stamp_stages); !faults.empty()) {
        Diagnostic diagnostic = refusal(file, "ADP-PLUG-007", "refused: what the plugin declares is faulty");
        diagnostic.notes = std::move(faults);
        throw Error(std::move(diagnostic));
    }
    return *plugin;
}

}  // namespace adpipe
