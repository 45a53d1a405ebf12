#include "dump_directory.hpp"

#include <adpipe/model/dump.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <memory>

namespace {

using namespace adpipe;

constexpr std::array dump_outputs{port<Dump>("dump", "The chosen file.")};

void publish(Context& context, Dump dump) {
    context.summary(dump.file.filename().string() + ": " + dump.reason);
    context.out<Dump>("dump", std::make_shared<const Dump>(std::move(dump)));
}

class SelectFinal final : public Stage {
public:
    static constexpr const char* name = "select.final";
    static constexpr const char* summary = "Chooses the last dump of a directory.";
    static constexpr const char* doc =
        "Takes the file NNN_<stage>_<transform>.txt with the highest number, compared as a number: 1000 comes after 999.";
    static constexpr auto& outputs = dump_outputs;
    struct Options {
        std::filesystem::path directory;
    };
    static constexpr auto options() {
        return std::array{
            option<&Options::directory>("directory", "Directory of dumps, as AD_DUMP_GRAPHS_DIR names it.", {.required = true})};
    }
    explicit SelectFinal(Options given) : options_(std::move(given)) {}
    void run(Context& context) override { publish(context, select::choose_final(select::read_directory(options_.directory))); }

private:
    Options options_;
};

class SelectTransform final : public Stage {
public:
    static constexpr const char* name = "select.transform";
    static constexpr const char* summary = "Chooses the dump that was written after a transform.";
    static constexpr const char* doc =
        "Finds the dump of a transform by its name, as in the file's header and name, e.g. fuse_rmsnorm or "
        "post_load_fusion_fuse_rmsnorm. A transform that was dumped several times needs occurrence.";
    static constexpr auto& outputs = dump_outputs;
    struct Options {
        std::filesystem::path directory;
        std::string transform;
        std::int64_t occurrence = 0;
    };
    static constexpr auto options() {
        return std::array{
            option<&Options::directory>("directory", "Directory of dumps, as AD_DUMP_GRAPHS_DIR names it.", {.required = true}),
            option<&Options::transform>("transform", "Name of the transform, with or without its stage.", {.required = true}),
            option<&Options::occurrence>("occurrence",
                                         "Which one, if there are several: 1 is the first, -1 the last; 0: there must be one.",
                                         {.minimum = -1000000, .maximum = 1000000}),
        };
    }
    explicit SelectTransform(Options given) : options_(std::move(given)) {}
    void run(Context& context) override {
        publish(context, select::choose_transform(select::read_directory(options_.directory), options_.transform, options_.occurrence));
    }

private:
    Options options_;
};

class SelectFile final : public Stage {
public:
    static constexpr const char* name = "select.file";
    static constexpr const char* summary = "Takes the graph text that you name.";
    static constexpr const char* doc = "Any file with a graph text: a dump of AutoDeploy, or what torch.fx or torch.export printed.";
    static constexpr auto& outputs = dump_outputs;
    struct Options {
        std::filesystem::path file;
    };
    static constexpr auto options() { return std::array{option<&Options::file>("file", "The file.", {.required = true})}; }
    explicit SelectFile(Options given) : options_(std::move(given)) {}
    void run(Context& context) override { publish(context, select::choose_file(options_.file)); }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("select_dump", "0.1.0", "select.final select.transform select.file", adpipe::stage<SelectFinal>(),
              adpipe::stage<SelectTransform>(), adpipe::stage<SelectFile>())
