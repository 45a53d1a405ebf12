#include "dump_directory.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/suggest.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

namespace adpipe::select {

namespace fs = std::filesystem;

namespace {

/// AutoDeploy's stages; a stage's name may hold underscores, so that the file's name alone does not show where it ends.
constexpr std::array<std::string_view, 9> known_stages{"export",           "post_export", "pattern_matcher", "sharding", "weight_load",
                                                       "post_load_fusion", "cache_init",  "visualize",       "compile"};

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// Reads "NNN" of "NNN_rest"; false if the name has another form.
bool split_number(std::string_view stem, std::int64_t& number, std::string_view& rest) {
    const auto [end, failed] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (failed != std::errc{} || number < 0 || end == stem.data() + stem.size() || *end != '_') return false;
    rest = stem.substr(static_cast<std::size_t>(end - stem.data()) + 1);
    return true;
}

void split_stage(std::string_view rest, Dump& dump) {
    std::string_view stage;
    for (const std::string_view known : known_stages) {
        const bool fits = starts_with(rest, known) && rest.size() > known.size() && rest[known.size()] == '_';
        if (fits && known.size() > stage.size()) stage = known;
    }
    dump.stage = std::string{stage};
    dump.transform = std::string{stage.empty() ? rest : rest.substr(stage.size() + 1)};
}

/// "# Transform: …" and "# Stage: …" of the first lines.
void read_header(Dump& dump) {
    std::error_code error;
    if (!fs::is_regular_file(dump.file, error)) return;  // reading a pipe would take its text away from the parser
    std::ifstream file(dump.file);
    std::string head(512, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    const auto field = [&](std::string_view mark, std::string& value) {
        const std::size_t at = starts_with(head, mark) ? 0 : head.find("\n" + std::string{mark});
        if (at == std::string::npos) return;
        const std::size_t begin = head.find(mark, at) + mark.size();
        const std::size_t end = head.find_first_of("\r\n", begin);
        if (end != std::string::npos && end > begin) value = head.substr(begin, end - begin);
    };
    field("# Stage: ", dump.stage);
    field("# Transform: ", dump.transform);
}

[[noreturn]] void fail(std::string code, std::string message, std::vector<std::string> notes = {}, std::string hint = {}) {
    throw Error(Diagnostic{Severity::error, std::move(code), std::move(message), {}, {}, std::move(notes), std::move(hint)});
}

std::string quoted(const fs::path& path) { return "\"" + path.string() + "\""; }

std::string name_of(const Dump& dump) { return dump.file.filename().string(); }

std::vector<std::string> names_of(const std::vector<Dump>& dumps) {
    std::vector<std::string> names;
    for (const Dump& dump : dumps) names.push_back(name_of(dump));
    return names;
}

/// Names in the directory that `path` would be in, for a hint.
std::vector<std::string> siblings(const fs::path& path) {
    std::vector<std::string> names;
    std::error_code error;
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path{"."};
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        names.push_back(it->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

fs::path without_trailing_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

[[noreturn]] void fail_missing(const fs::path& given, const std::string& code, const std::string& what) {
    const fs::path path = without_trailing_slash(given);
    const std::string nearest = nearest_name(path.filename().string(), siblings(path));
    fail(code, "there is no " + what + " " + quoted(path), {},
         nearest.empty() ? "" : "did you mean " + quoted(path.parent_path() / nearest) + "?");
}

bool holds_dumps(const fs::path& path) {
    std::error_code error;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        std::int64_t number = 0;
        std::string_view rest;
        const std::string stem = it->path().stem().string();
        if (it->path().extension() == ".txt" && split_number(stem, number, rest)) return true;
    }
    return false;
}

[[noreturn]] void fail_without_dumps(const Directory& directory) {
    std::vector<std::string> notes;
    std::string hint = "a dump is called NNN_<stage>_<transform>.txt; set AD_DUMP_GRAPHS_DIR for a run of AutoDeploy to get them";
    std::vector<std::string> with_dumps;
    for (const std::string& name : directory.directories) {
        if (holds_dumps(directory.path / name)) with_dumps.push_back(name);
    }
    if (!with_dumps.empty()) {
        notes.push_back("directories in it that hold dumps: " + list_names(with_dumps));
        hint = "name one of them, e.g. directory: " + (directory.path / with_dumps.front()).string();
    } else if (!directory.directories.empty()) {
        notes.push_back("directories in it: " + list_names(directory.directories));
    }
    if (!directory.other_files.empty()) notes.push_back("files in it: " + list_names(directory.other_files));
    if (notes.empty()) notes.emplace_back("it is empty");
    fail("ADP-SEL-003", quoted(directory.path) + " holds no dump", std::move(notes), std::move(hint));
}

void add_entry(const fs::directory_entry& entry, Directory& directory) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (entry.is_directory(error)) {
        directory.directories.push_back(name);
        return;
    }
    std::int64_t number = 0;
    std::string_view rest;
    const std::string stem = entry.path().stem().string();
    if (!entry.is_regular_file(error) || entry.path().extension() != ".txt" || !split_number(stem, number, rest)) {
        directory.other_files.push_back(name);
        return;
    }
    Dump dump;
    dump.file = fs::absolute(entry.path()).lexically_normal();
    dump.number = number;
    split_stage(rest, dump);
    directory.dumps.push_back(std::move(dump));
}

}  // namespace

Directory read_directory(const fs::path& given) {
    const fs::path path = without_trailing_slash(given);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) fail_missing(path, "ADP-SEL-001", "directory");
    if (error) fail("ADP-SEL-001", "cannot read " + quoted(path) + ": " + error.message());
    if (status.type() != fs::file_type::directory) {
        fail("ADP-SEL-002", quoted(path) + " is a file, not a directory of dumps", {}, "use select.file to read one dump");
    }
    Directory directory{path, {}, {}, {}};
    fs::directory_iterator it(path, error);
    for (; !error && it != fs::directory_iterator{}; it.increment(error)) add_entry(*it, directory);
    if (error) fail("ADP-SEL-001", "cannot read " + quoted(path) + ": " + error.message());
    std::sort(directory.directories.begin(), directory.directories.end());
    std::sort(directory.other_files.begin(), directory.other_files.end());
    std::sort(directory.dumps.begin(), directory.dumps.end(),
              [](const Dump& a, const Dump& b) { return a.number != b.number ? a.number < b.number : a.file < b.file; });
    if (directory.dumps.empty()) fail_without_dumps(directory);
    return directory;
}

Dump describe_dump(const fs::path& file) {
    Dump dump;
    dump.file = fs::absolute(file).lexically_normal();
    std::string_view rest;
    const std::string stem = file.stem().string();
    if (split_number(stem, dump.number, rest)) split_stage(rest, dump);
    else dump.number = -1;
    read_header(dump);
    return dump;
}

Dump choose_final(const Directory& directory) {
    const std::vector<Dump>& dumps = directory.dumps;
    std::vector<std::string> highest;
    for (const Dump& dump : dumps) {
        if (dump.number == dumps.back().number) highest.push_back(name_of(dump));
    }
    if (highest.size() > 1) {
        fail("ADP-SEL-004", std::to_string(highest.size()) + " dumps in " + quoted(directory.path) + " have the highest number",
             {list_names(highest)}, "the files of two runs are mixed here; name one with select.file");
    }
    Dump dump = describe_dump(dumps.back().file);
    dump.reason = dumps.size() == 1 ? "the only dump" : "highest number of " + std::to_string(dumps.size()) + " dumps";
    return dump;
}

Dump choose_transform(const Directory& directory, const std::string& transform, std::int64_t occurrence) {
    std::vector<Dump> matches;
    for (const Dump& candidate : directory.dumps) {
        if (!ends_with(candidate.file.stem().string(), transform)) continue;
        Dump dump = describe_dump(candidate.file);
        const bool is_match = dump.transform == transform || dump.stage + "_" + dump.transform == transform ||
                              dump.file.stem() == transform;
        if (is_match) matches.push_back(std::move(dump));
    }
    if (matches.empty()) {
        std::set<std::string> there;
        for (const Dump& dump : directory.dumps) there.insert(dump.transform);
        const std::vector<std::string> names(there.begin(), there.end());
        const std::string nearest = nearest_name(transform, names);
        fail("ADP-SEL-005", "no dump of a transform \"" + transform + "\" in " + quoted(directory.path),
             {"transforms: " + list_names(names, 100)}, nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    const auto count = static_cast<std::int64_t>(matches.size());
    if (occurrence == 0 && count > 1) {
        fail("ADP-SEL-006", "transform \"" + transform + "\" was dumped " + std::to_string(count) + " times",
             {list_names(names_of(matches))}, "say which with occurrence: 1 is the first, -1 the last");
    }
    const std::int64_t index = occurrence > 0 ? occurrence - 1 : occurrence < 0 ? count + occurrence : 0;
    if (index < 0 || index >= count) {
        fail("ADP-SEL-007",
             "there is no occurrence " + std::to_string(occurrence) + " of transform \"" + transform + "\"; it was dumped " +
                 std::to_string(count) + (count == 1 ? " time" : " times"),
             {list_names(names_of(matches))});
    }
    Dump dump = matches[static_cast<std::size_t>(index)];
    dump.reason = "transform " + dump.transform;
    if (count > 1) dump.reason += ", occurrence " + std::to_string(index + 1) + " of " + std::to_string(count);
    return dump;
}

Dump choose_file(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found) fail_missing(file, "ADP-SEL-008", "file");
    if (error) fail("ADP-SEL-008", "cannot read " + quoted(file) + ": " + error.message());
    if (status.type() == fs::file_type::directory) {
        fail("ADP-SEL-008", quoted(file) + " is a directory", {}, "select.final reads the last dump of a directory");
    }
    Dump dump = describe_dump(file);
    dump.reason = "named by the user";
    return dump;
}

}  // namespace adpipe::select
