// analyze.decode_names: what the names of a trace's kernels tell.

#include <adpipe/model/decoded_names.hpp>
#include <adpipe/model/trace.hpp>
#include <adpipe/plugin.hpp>

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace adpipe;

/// Kernel time by what is known of the names.
struct KnownTime {
    Nanoseconds all = 0;
    Nanoseconds library = 0;
    Nanoseconds category = 0;
    Nanoseconds parameters = 0;

    void add(const KernelName& name, Nanoseconds time) {
        all += time;
        if (!name.library.empty()) library += time;
        if (name.category != KernelCategory::other) category += time;
        if (!name.parameters.empty()) parameters += time;
    }
    std::string share(Nanoseconds part) const {
        return all > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all)) : "-";
    }
};

class DecodeNames final : public Stage {
public:
    struct Options {
        std::vector<std::filesystem::path> rules;
    };
    static constexpr const char* name = "analyze.decode_names";
    static constexpr const char* summary = "Decodes kernel names: library, category, short name, parameters";
    static constexpr const char* doc =
        "Once for all renderers behind it; those that show names decode them themselves where this stage is not there, by the rules that "
        "adpipe ships.\n"
        "docs/kernel-names.md tells what rules look like. Copies and fills of the driver have no names of kernels and are left out.";
    static constexpr PortDecl inputs[] = {port<Trace>("trace", "the recording")};
    static constexpr PortDecl outputs[] = {port<DecodedNames>("names", "what the names tell")};
    static constexpr auto options() {
        return std::array{option<&Options::rules>("rules", "More files of kernel-name rules; they go before those that adpipe ships.")};
    }

    explicit DecodeNames(Options given) : options_{std::move(given)} {}

    void run(Context& context) override {
        const KernelNames rules(options_.rules);
        const auto& trace = context.in<Trace>("trace");
        const Kernels& kernels = trace.kernels;
        std::unordered_map<StringId, Nanoseconds> times;
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            if (kernels.kind.empty() || kernels.kind[k] == KernelKind::kernel) times[kernels.name[k]] += kernels.end[k] - kernels.start[k];
        }
        auto names = std::make_shared<DecodedNames>();
        KnownTime known;
        for (const auto& [id, time] : times) {
            if (context.stop_requested()) return;
            KernelName decoded = rules.decode(trace.string(id));
            known.add(decoded, time);
            names->by_name.emplace(trace.string(id), std::move(decoded));
        }
        context.summary(fmt::format("{} kernel names; known by time: library {}, category {}, parameters {}", names->by_name.size(),
                                    known.share(known.library), known.share(known.category), known.share(known.parameters)));
        context.out<DecodedNames>("names", std::move(names));
    }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("analyze_names", "0.1.0", "analyze.decode_names", adpipe::stage<DecodeNames>())
