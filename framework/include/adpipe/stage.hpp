#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/options.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adpipe {

/// Which decoder layers the user asked for: `layer:` in a config, `--layer`, or the N of `adpipe layer N`.
struct LayerSelection {
    bool all = false;
    /// Layer numbers, ascending, without repeats. Empty and !all: the user named none.
    std::vector<std::int32_t> layers;
    bool contains(std::int32_t layer) const noexcept {
        if (all) return true;
        for (const std::int32_t wanted : layers) {
            if (wanted == layer) return true;
        }
        return false;
    }
};

/// What the terminal at the end of a stage's `print` can show.
struct Terminal {
    bool is_terminal = false;
    bool colour = false;
    int columns = 100;
};

/// A stage's view of the run. Valid only during Stage::prepare and Stage::run; call it from the thread that runs the stage.
class ADPIPE_EXPORT Context {
public:
    virtual ~Context();

    /// The artifact at a required input port. Throws Error if the port has none or has another type.
    template <class T>
    const T& in(std::string_view port) const {
        return *in_shared<T>(port);
    }
    template <class T>
    std::shared_ptr<const T> in_shared(std::string_view port) const {
        return std::static_pointer_cast<const T>(input(port, ArtifactTraits<T>::id, true, 0));
    }
    /// The artifact at an optional port, or nullptr.
    template <class T>
    std::shared_ptr<const T> maybe(std::string_view port) const {
        return std::static_pointer_cast<const T>(input(port, ArtifactTraits<T>::id, false, 0));
    }
    /// All artifacts at a port that takes many, in the order of the config.
    template <class T>
    std::vector<std::shared_ptr<const T>> many(std::string_view port) const {
        std::vector<std::shared_ptr<const T>> all;
        for (std::size_t i = 0; auto data = input(port, ArtifactTraits<T>::id, false, i); ++i) {
            all.push_back(std::static_pointer_cast<const T>(std::move(data)));
        }
        return all;
    }
    /// Publishes an artifact at an output port. The value must not change afterwards.
    template <class T>
    void out(std::string_view port, std::shared_ptr<const T> value) {
        output(port, make_artifact<T>(std::move(value)));
    }

    /// Shows a warning or note to the user. Does not stop the run; for that, throw Error.
    virtual void report(Diagnostic diagnostic) = 0;
    /// One line for the summary that the host prints after the stage, e.g. "094_compile.txt, module monolithic.model".
    virtual void summary(std::string line) = 0;
    /// Text for standard output, as it is. Only what the user asked to see; files go through write_file.
    virtual void print(std::string_view text) = 0;
    /// Writes `content` to `name` below the output directory: to a temporary name first, then renamed, so that no reader sees
    /// half a file. `name` is relative and must not leave the directory. Returns the path. Throws Error if it cannot.
    virtual std::filesystem::path write_file(const std::filesystem::path& name, std::string_view content) = 0;
    /// The directory for output files; created by the first write_file.
    virtual const std::filesystem::path& output_directory() const = 0;
    /// Finds a data file that is installed with adpipe, such as "rules/deepseek.yaml". Throws Error, naming where it looked.
    virtual std::filesystem::path data_file(const std::filesystem::path& name) const = 0;
    virtual const LayerSelection& layers() const = 0;
    /// Name of the pipeline (`pipeline:`), for titles.
    virtual const std::string& pipeline() const = 0;
    virtual const Terminal& terminal() const = 0;
    /// True once the user has asked to stop (Ctrl-C). Long loops look at it now and then and return.
    virtual bool stop_requested() const noexcept = 0;

protected:
    virtual std::shared_ptr<const void> input(std::string_view port, std::string_view type, bool required, std::size_t index) const = 0;
    virtual void output(std::string_view port, Artifact artifact) = 0;
};

/// One step of a pipeline. Made anew for each run, used by one thread.
class ADPIPE_EXPORT Stage {
public:
    Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    virtual ~Stage();

    /// Reads inputs, publishes outputs. May throw Error, or anything else derived from std::exception.
    virtual void run(Context& context) = 0;

    /// Called before the first stage of the pipeline runs, when there are no inputs yet. May begin, on a thread of its own, what needs none, such
    /// as reading a file of rules; that thread must not use the context, and ends with the stage. Where this throws, run() is called nevertheless,
    /// and is to say what is wrong.
    virtual void prepare(const Context& /*context*/) {}
};

/// An optional input beside a required one of the same type is only connected by hand (`from:`).
enum class PortUse : std::uint8_t { required, optional, many };

/// One input or output of a stage; static data.
struct PortDecl {
    const char* name;
    const char* type;  ///< artifact id
    PortUse use;
    const char* doc;
};

template <class T>
constexpr PortDecl port(const char* name, const char* doc = "", PortUse use = PortUse::required) {
    return PortDecl{name, ArtifactTraits<T>::id, use, doc};
}

/// One stage of a plugin; static data. Grows at its end only; `size` says how much of it the plugin knew.
struct StageDecl {
    std::uint32_t size;
    const char* name;     ///< "<kind>.<name>"
    const char* summary;  ///< one line
    const char* doc;      ///< some lines, for `adpipe inspect`
    std::span<const PortDecl> inputs;
    std::span<const PortDecl> outputs;
    std::span<const OptionDecl> options;
    Stage* (*create)(std::span<const GivenOption> given);  ///< caller owns; may throw
};

/// What adpipe_plugin() returns; static data.
struct PluginDecl {
    std::uint32_t size;
    std::span<const StageDecl> stages;
};

namespace detail {

template <class T>
constexpr std::span<const PortDecl> inputs_of() {
    if constexpr (requires { T::inputs; }) return T::inputs;
    else return {};
}
template <class T>
constexpr std::span<const PortDecl> outputs_of() {
    if constexpr (requires { T::outputs; }) return T::outputs;
    else return {};
}
/// `options` may be a static array, or, where the struct is nested in the stage, a static function that returns a std::array: only
/// inside a function are the nested struct's default values known.
template <class T>
struct OptionTable {
    static constexpr auto table = T::options();
};
template <class T>
constexpr std::span<const OptionDecl> options_of() {
    if constexpr (requires { T::options(); }) return OptionTable<T>::table;
    else if constexpr (requires { T::options; }) return T::options;
    else return {};
}
template <class T>
Stage* create_stage(std::span<const GivenOption> given) {
    if constexpr (requires { typename T::Options; }) {
        typename T::Options options{};
        for (const GivenOption& option : given) option.decl->assign(&options, option.value);
        return new T(std::move(options));
    } else {
        return new T();
    }
}

}  // namespace detail

/// Describes stage class T, which has `static constexpr` members `name`, `summary`, `doc` (text), `inputs`, `outputs` (arrays of PortDecl,
/// may be missing), `options` (array of OptionDecl or function that returns one, may be missing) and, with options, a struct `Options` and a constructor
/// from it.
template <class T>
constexpr StageDecl stage() {
    return StageDecl{
        sizeof(StageDecl),       T::name, T::summary, T::doc, detail::inputs_of<T>(), detail::outputs_of<T>(), detail::options_of<T>(),
        &detail::create_stage<T>};
}

}  // namespace adpipe
