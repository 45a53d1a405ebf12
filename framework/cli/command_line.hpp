#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adpipe::cli {

enum ExitCode : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_config = 3, exit_plugin = 4 };

/// The words after the verb.
using Arguments = std::vector<std::string>;

/// The options and arguments of one verb: declared once, used to parse, to complain and to print --help.
///
///     CommandLine line{"members", "DUMP", "Shows …", "adpipe members dumps/092_compile.txt"};
///     line.argument("DUMP", "a dump file", &dump);
///     line.option("format", "NAME", "table, tsv or json", &format);
///     if (const auto done = line.parse(arguments)) return *done;
class CommandLine {
public:
    CommandLine(std::string verb, std::string synopsis, std::string description, std::string example);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// `names` may hold a letter: "quiet,q". The targets keep their values where the option is not given.
    void flag(const std::string& names, const std::string& doc, bool* target);
    void option(const std::string& names, const std::string& value, const std::string& doc, std::optional<std::string>* target);
    void option(const std::string& names, const std::string& value, const std::string& doc, std::string* target);
    void option(const std::string& names, const std::string& value, const std::string& doc, std::vector<std::string>* target);
    /// The next argument without a dash; required.
    void argument(const std::string& name, const std::string& doc, std::string* target);
    /// The last one, which may be missing.
    void argument(const std::string& name, const std::string& doc, std::optional<std::string>* target);

    /// Fills the targets. Returns the exit status if that was all: after --help, or after a complaint.
    std::optional<int> parse(const Arguments& arguments);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Says what is wrong with how the program was called; returns exit_usage. `verb` may be empty.
int usage_error(const std::string& code, const std::string& message, const std::string& verb, const std::string& note = {});

}  // namespace adpipe::cli
