#include "host/registry.hpp"

#include "host/abi_check.hpp"
#include "host/plugin_loader.hpp"

#include <algorithm>
#include <system_error>

namespace adpipe {
namespace {

namespace fs = std::filesystem;

bool offers(const PluginFile& file, std::string_view stage) {
    return std::find(file.stages.begin(), file.stages.end(), stage) != file.stages.end();
}

Diagnostic missing_place(const SearchPlace& place) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-PLUG-001";
    diagnostic.message = "there is no such plugin file or directory";
    diagnostic.where.file = place.path.string();
    diagnostic.notes.push_back("named by " + std::string{origin_text(place.origin)});
    return diagnostic;
}

Diagnostic unreadable_place(const SearchPlace& place, const std::error_code& error) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-PLUG-001";
    diagnostic.message = "the directory of plugins cannot be read: " + error.message();
    diagnostic.where.file = place.path.string();
    diagnostic.notes.push_back("named by " + std::string{origin_text(place.origin)});
    return diagnostic;
}

Diagnostic shadowed_note(std::string_view stage, const PluginFile& used, const PluginFile& other) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::note;
    diagnostic.code = "ADP-PLUG-009";
    diagnostic.message = "stage '" + std::string{stage} + "' is taken from " + used.path.string() + ", not from " + other.path.string();
    return diagnostic;
}

/// The file itself, where links lead to it; the path as it is if they lead nowhere.
fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path canonical = fs::canonical(path, error);
    return error ? path : canonical;
}

}  // namespace

Diagnostic duplicate_stage(std::string_view stage, const fs::path& first, const fs::path& second) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-PLUG-008";
    diagnostic.message = "stage '" + std::string{stage} + "' is in two plugins of one directory";
    diagnostic.notes = {first.string(), second.string()};
    diagnostic.hint = "remove one of them, or name the one to use with --plugin";
    return diagnostic;
}

Registry::Registry(std::vector<SearchPlace> places) : places_{std::move(places)} {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        std::error_code error;
        const fs::file_status status = fs::status(places_[i].path, error);
        if (fs::is_directory(status)) {
            scan_directory(i);
        } else if (fs::exists(status)) {
            add_file(real_path(places_[i].path), i, places_[i].named());
        } else if (places_[i].named()) {
            missing_.push_back(missing_place(places_[i]));
        }
    }
}

Registry::~Registry() = default;
Registry::Registry(Registry&&) noexcept = default;
Registry& Registry::operator=(Registry&&) noexcept = default;

void Registry::scan_directory(std::size_t place) {
    std::error_code error;
    const fs::path directory = fs::canonical(places_[place].path, error);
    std::vector<fs::directory_entry> files;
    for (fs::directory_iterator entry{directory, error}, end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".so") files.push_back(*entry);
    }
    if (error && places_[place].named()) missing_.push_back(unreadable_place(places_[place], error));
    std::sort(files.begin(), files.end());  // a directory's own order differs from machine to machine
    // To follow a path costs a system call for each of its parts; the directory's is known to hold no link.
    for (const fs::directory_entry& file : files) add_file(file.is_symlink(error) ? real_path(file.path()) : file.path(), place, false);
}

void Registry::add_file(fs::path real_path, std::size_t place, bool named) {
    PluginFile file;
    file.path = std::move(real_path);
    file.place = place;
    file.named = named;
    if (std::any_of(files_.begin(), files_.end(), [&](const PluginFile& known) { return known.path == file.path; })) return;

    const StampReading reading = read_stamp(file.path.c_str());
    // Directories may hold other files: helper libraries, text, broken links. Only what carries a stamp is a plugin.
    const bool is_plugin = reading.status == StampStatus::found;
    if (!is_plugin && reading.status != StampStatus::damaged && !named) return;
    if (is_plugin) {
        file.name = stamp_text(reading.abi.plugin_name, sizeof reading.abi.plugin_name);
        file.version = stamp_text(reading.abi.plugin_version, sizeof reading.abi.plugin_version);
        file.stages = stamp_stages(reading.abi);
    }
    file.refusal = stamp_refusal(file.path, reading);
    files_.push_back(std::move(file));
}

bool Registry::load(PluginFile& file) {
    if (file.decl != nullptr) return true;
    if (file.refusal) return false;
    try {
        file.decl = &load_plugin(file.path, file.stages);
        return true;
    } catch (const Error& error) {
        file.refusal = error.diagnostics().front();
        return false;
    }
}

Registry::Found Registry::find(std::string_view stage) {
    Found found;
    for (const StageDecl* own : own_stages_) {
        if (stage == own->name) {
            found.stage = own;
            return found;
        }
    }
    std::vector<Diagnostic> refusals;
    for (PluginFile& file : files_) {
        if (!offers(file, stage)) continue;
        if (found.plugin != nullptr) {
            if (file.refusal) continue;
            if (file.place == found.plugin->place) {
                Found duplicate;
                duplicate.diagnostics.push_back(duplicate_stage(stage, found.plugin->path, file.path));
                return duplicate;
            }
            found.diagnostics.push_back(shadowed_note(stage, *found.plugin, file));
        } else if (load(file)) {
            const auto position = std::find(file.stages.begin(), file.stages.end(), stage) - file.stages.begin();
            found.stage = &file.decl->stages[static_cast<std::size_t>(position)];
            found.plugin = &file;
        } else {
            refusals.push_back(*file.refusal);
        }
    }
    for (Diagnostic& refusal : refusals) {
        if (found.stage != nullptr) refusal.severity = Severity::warning;  // a later place has a plugin that works
    }
    found.diagnostics.insert(found.diagnostics.begin(), refusals.begin(), refusals.end());
    return found;
}

std::vector<std::string> Registry::stage_names() const {
    std::vector<std::string> names;
    for (const StageDecl* own : own_stages_) names.emplace_back(own->name);
    for (const PluginFile& file : files_) {
        if (!file.refusal) names.insert(names.end(), file.stages.begin(), file.stages.end());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

const PluginFile* Registry::file_of(std::string_view stage) const {
    for (const StageDecl* own : own_stages_) {
        if (stage == own->name) return nullptr;
    }
    for (const PluginFile& file : files_) {
        if (!file.refusal && offers(file, stage)) return &file;
    }
    return nullptr;
}

std::vector<Diagnostic> Registry::named_problems() const {
    std::vector<Diagnostic> problems = missing_;
    for (const PluginFile& file : files_) {
        if (file.refusal && file.named) problems.push_back(*file.refusal);
    }
    return problems;
}

}  // namespace adpipe
