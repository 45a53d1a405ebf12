#include "cli/command_line.hpp"

#include "cli/console.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/suggest.hpp>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace adpipe::cli {
namespace {

namespace po = boost::program_options;

/// "--plugn=x" → "plugn"
std::string bare_name(std::string name) {
    name.erase(0, name.find_first_not_of('-'));
    return name.substr(0, name.find('='));
}

std::string dashed(const std::string& name) { return (name.size() == 1 ? "-" : "--") + name; }

}  // namespace

struct CommandLine::State {
    struct Row {
        std::string left;
        std::string doc;
    };
    std::string verb;
    std::string synopsis;
    std::string description;
    std::string example;
    po::options_description options;
    po::positional_options_description positions;
    std::vector<Row> argument_rows;
    std::vector<Row> option_rows;
    std::vector<std::string> option_names;
    std::vector<std::string> required;
    std::vector<std::function<void(const po::variables_map&)>> assign;

    void add_row(const std::string& names, const std::string& value, const std::string& doc) {
        const std::size_t comma = names.find(',');
        const std::string name = names.substr(0, comma);
        std::string left = comma == std::string::npos ? "    --" + name : "-" + names.substr(comma + 1) + ", --" + name;
        if (!value.empty()) left += " " + value;
        option_rows.push_back({std::move(left), doc});
        option_names.push_back(name);
    }

    template <class Value>
    void add_value(const std::string& names, const std::string& value, const std::string& doc, std::function<void(const Value&)> use) {
        options.add_options()(names.c_str(), po::value<Value>());
        add_row(names, value, doc);
        const std::string name = names.substr(0, names.find(','));
        assign.push_back([name, use = std::move(use)](const po::variables_map& map) {
            if (map.count(name) != 0) use(map[name].as<Value>());
        });
    }

    void add_argument(const std::string& name, const std::string& doc, std::function<void(const std::string&)> use) {
        options.add_options()(name.c_str(), po::value<std::string>());
        positions.add(name.c_str(), 1);
        argument_rows.push_back({name, doc});
        assign.push_back([name, use = std::move(use)](const po::variables_map& map) {
            if (map.count(name) != 0) use(map[name].as<std::string>());
        });
    }

    std::string help() const;
    int complain(const std::string& code, const std::string& message, const std::string& note = {}) const {
        return usage_error(code, message, verb, note);
    }
    int unknown_option(const std::string& name) const;
};

std::string CommandLine::State::help() const {
    std::string text = fmt::format("usage: adpipe {}{}{}{}\n\n{}\n", verb, synopsis.empty() ? "" : " ", synopsis,
                                   option_rows.empty() ? "" : " [options]", broken(description, 0));
    std::size_t width = 0;
    for (const auto* rows : {&argument_rows, &option_rows}) {
        for (const Row& row : *rows) width = std::max(width, row.left.size());
    }
    for (const auto* rows : {&argument_rows, &option_rows}) {
        if (!rows->empty()) text += '\n';
        for (const Row& row : *rows) text += fmt::format("  {:<{}}  {}\n", row.left, width, broken(row.doc, width + 4));
    }
    if (!example.empty()) text += fmt::format("\nexample:\n  {}\n", example);
    return text;
}

int CommandLine::State::unknown_option(const std::string& name) const {
    const std::string near = nearest_name(bare_name(name), option_names);
    return complain("ADP-USE-002", fmt::format("unknown option '{}'", name), near.empty() ? "" : fmt::format("did you mean '--{}'?", near));
}

CommandLine::CommandLine(std::string verb, std::string synopsis, std::string description, std::string example)
    : state_{std::make_unique<State>()} {
    state_->verb = std::move(verb);
    state_->synopsis = std::move(synopsis);
    state_->description = std::move(description);
    state_->example = std::move(example);
}

CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& names, const std::string& doc, bool* target) {
    state_->options.add_options()(names.c_str(), po::bool_switch());
    state_->add_row(names, "", doc);
    const std::string name = names.substr(0, names.find(','));
    state_->assign.push_back([name, target](const po::variables_map& map) {
        if (map[name].as<bool>()) *target = true;
    });
}

void CommandLine::option(const std::string& names, const std::string& value, const std::string& doc, std::optional<std::string>* target) {
    state_->add_value<std::string>(names, value, doc, [target](const std::string& text) { *target = text; });
}

void CommandLine::option(const std::string& names, const std::string& value, const std::string& doc, std::string* target) {
    state_->add_value<std::string>(names, value, doc, [target](const std::string& text) { *target = text; });
}

void CommandLine::option(const std::string& names, const std::string& value, const std::string& doc, std::vector<std::string>* target) {
    state_->add_value<std::vector<std::string>>(names, value, doc, [target](const std::vector<std::string>& texts) { *target = texts; });
}

void CommandLine::argument(const std::string& name, const std::string& doc, std::string* target) {
    state_->add_argument(name, doc, [target](const std::string& text) { *target = text; });
    state_->required.push_back(name);
}

void CommandLine::argument(const std::string& name, const std::string& doc, std::optional<std::string>* target) {
    state_->add_argument(name, doc, [target](const std::string& text) { *target = text; });
}

std::optional<int> CommandLine::parse(const Arguments& arguments) {
    State& state = *state_;
    state.options.add_options()("help,h", po::bool_switch());
    state.add_row("help,h", "", "shows this");
    po::variables_map map;
    try {
        // Guessing would take --plug for --plugin, and break when another option with that beginning arrives.
        const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::store(po::command_line_parser(arguments).options(state.options).positional(state.positions).style(style).run(), map);
    } catch (const po::unknown_option& error) {
        return state.unknown_option(dashed(bare_name(error.get_option_name())));
    } catch (const po::multiple_occurrences& error) {
        return state.complain("ADP-USE-003", fmt::format("the option '{}' is given twice", dashed(bare_name(error.get_option_name()))));
    } catch (const po::too_many_positional_options_error&) {
        return state.complain("ADP-USE-004", "too many arguments");
    } catch (const po::error_with_option_name& error) {
        return state.complain("ADP-USE-005", fmt::format("the option '{}' needs a value", dashed(bare_name(error.get_option_name()))));
    } catch (const po::error& error) {
        return state.complain("ADP-USE-005", error.what());
    }
    if (map["help"].as<bool>()) {
        Output::standard().write(state.help());
        return finish(exit_ok);
    }
    for (const std::string& name : state.required) {
        if (map.count(name) == 0) return state.complain("ADP-USE-006", fmt::format("the argument {} is missing", name));
    }
    for (const auto& assign : state.assign) assign(map);
    return std::nullopt;
}

int usage_error(const std::string& code, const std::string& message, const std::string& verb, const std::string& note) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.message = message;
    if (!note.empty()) diagnostic.notes = {note};
    diagnostic.hint = verb.empty() ? "`adpipe help` lists what there is" : fmt::format("`adpipe {} --help` shows how it is used", verb);
    show({diagnostic});
    return exit_usage;
}

}  // namespace adpipe::cli
