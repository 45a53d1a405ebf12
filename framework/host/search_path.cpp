#include "host/search_path.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace adpipe {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

fs::path user_data_directory() {
    const fs::path data_home = environment("XDG_DATA_HOME");
    if (data_home.is_absolute()) return data_home / "adpipe";  // a relative value is to be ignored, says its specification
    const fs::path home = environment("HOME");
    return home.is_absolute() ? home / ".local/share/adpipe" : fs::path{};
}

fs::path executable_directory() {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path{} : executable.parent_path();
}

fs::path library_directory() {
    Dl_info info;
    if (::dladdr(reinterpret_cast<const void*>(&origin_text), &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code error;
    const fs::path library = fs::canonical(info.dli_fname, error);
    return error ? fs::path{} : library.parent_path();
}

void add(std::vector<SearchPlace>& places, const fs::path& path, PlaceOrigin origin) {
    if (path.empty()) return;  // would be the working directory
    std::error_code error;
    fs::path absolute = fs::absolute(path, error).lexically_normal();
    const bool is_known = std::any_of(places.begin(), places.end(), [&](const SearchPlace& place) { return place.path == absolute; });
    if (!error && !is_known) places.push_back({std::move(absolute), origin});
}

void add_each(std::vector<SearchPlace>& places, std::string_view list, PlaceOrigin origin) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(':'), list.size());
        add(places, fs::path{list.substr(0, end)}, origin);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

}  // namespace

SearchSettings SearchSettings::from_process() {
    SearchSettings settings;
    settings.plugin_path = environment("ADPIPE_PLUGIN_PATH");
    settings.user_data = user_data_directory();
    settings.executable = executable_directory();
    settings.library = library_directory();
    return settings;
}

std::vector<SearchPlace> search_places(const SearchSettings& settings) {
    std::vector<SearchPlace> places;
    for (const fs::path& path : settings.command_line) add(places, path, PlaceOrigin::command_line);
    for (const fs::path& path : settings.config) add(places, path, PlaceOrigin::config);
    add_each(places, settings.plugin_path, PlaceOrigin::environment);
    if (!settings.user_data.empty()) add(places, settings.user_data / "plugins", PlaceOrigin::user);
    if (!settings.executable.empty()) add(places, settings.executable / "../lib/adpipe/plugins", PlaceOrigin::installed);
    // Where the library directory has another name (lib64, lib/<architecture>), and for programs other than adpipe itself.
    if (!settings.library.empty()) add(places, settings.library / "adpipe/plugins", PlaceOrigin::installed);
    return places;
}

std::vector<fs::path> data_directories(const SearchSettings& settings) {
    std::vector<fs::path> directories;
    const auto add_directory = [&directories](const fs::path& path) {
        const fs::path normal = path.lexically_normal();
        if (std::find(directories.begin(), directories.end(), normal) == directories.end()) directories.push_back(normal);
    };
    if (!settings.user_data.empty()) add_directory(settings.user_data);
    if (!settings.executable.empty()) add_directory(settings.executable / "../share/adpipe");
    if (!settings.library.empty()) {
        add_directory(settings.library / "../share/adpipe");
        add_directory(settings.library / "../../share/adpipe");  // lib/<architecture>/
    }
    return directories;
}

std::string_view origin_text(PlaceOrigin origin) noexcept {
    switch (origin) {
        case PlaceOrigin::command_line: return "--plugin";
        case PlaceOrigin::config: return "plugins: in the config";
        case PlaceOrigin::environment: return "ADPIPE_PLUGIN_PATH";
        case PlaceOrigin::user: return "user";
        case PlaceOrigin::installed: return "installed";
    }
    return "";
}

}  // namespace adpipe
