#pragma once

#include "host/search_path.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// A plugin file that the search came upon. Known from its stamp; loaded only when one of its stages is asked for.
struct PluginFile {
    std::filesystem::path path;  ///< canonical
    std::size_t place = 0;       ///< index into Registry::places()
    bool named = false;          ///< this very file was named for this run, so that trouble with it is an error
    std::string name;
    std::string version;
    std::vector<std::string> stages;
    std::optional<Diagnostic> refusal;  ///< why it is not used
    const PluginDecl* decl = nullptr;   ///< once loaded
};

/// The stages that the plugins offer. Owned by the host; there is no global one. Used from one thread.
class ADPIPE_EXPORT Registry {
public:
    /// Knows no stage but those that add() gives it.
    Registry() = default;
    /// Looks through the places in order and reads the stamp of each plugin; runs no code of theirs.
    explicit Registry(std::vector<SearchPlace> places);
    ~Registry();
    Registry(Registry&&) noexcept;
    Registry& operator=(Registry&&) noexcept;

    /// Adds a stage of the program itself; it comes before those of plugins. `stage` must outlive the registry.
    void add(const StageDecl& stage) { own_stages_.push_back(&stage); }

    /// What became of a stage name.
    struct Found {
        const StageDecl* stage = nullptr;     ///< nullptr: there is none, or none that can be used
        const PluginFile* plugin = nullptr;   ///< where it comes from; nullptr for a stage of the program itself
        std::vector<Diagnostic> diagnostics;  ///< errors if there is no stage but a plugin has the name; else warnings and notes
    };
    /// The stage of that name; loads its plugin if it must.
    Found find(std::string_view stage);

    /// All names that find() may know, in order, without repeats.
    std::vector<std::string> stage_names() const;
    /// The first file that offers the stage and is not refused; nullptr for a stage of the program itself.
    const PluginFile* file_of(std::string_view stage) const;

    const std::vector<SearchPlace>& places() const noexcept { return places_; }
    /// Plugins, refused ones too, in search order. Files that are no plugins are not there, unless they were named.
    const std::vector<PluginFile>& files() const noexcept { return files_; }
    /// Trouble with what the user named (`--plugin`, `plugins:`): places that are missing, files that are no plugins or are refused.
    std::vector<Diagnostic> named_problems() const;

private:
    void scan_directory(std::size_t place);
    void add_file(std::filesystem::path real_path, std::size_t place, bool named);
    bool load(PluginFile& file);

    std::vector<SearchPlace> places_;
    std::vector<PluginFile> files_;
    std::vector<Diagnostic> missing_;
    std::vector<const StageDecl*> own_stages_;
};

/// The trouble with two plugins of one directory that have the same stage.
ADPIPE_EXPORT Diagnostic duplicate_stage(std::string_view stage, const std::filesystem::path& first, const std::filesystem::path& second);

}  // namespace adpipe
