#include "cli/commands.hpp"
#include "cli/console.hpp"

#include <string_view>

namespace adpipe::cli {

int cmd_help(const Arguments& arguments) {
    if (arguments.size() == 1) {
        for (const Command& command : commands()) {
            if (arguments.front() == command.name && command.run != cmd_help) return command.run({"--help"});
        }
    }
    std::optional<std::string> verb;
    CommandLine line{"help", "[COMMAND]", "Shows the commands, or how one is used.", "adpipe help run"};
    line.argument("COMMAND", "a command", &verb);
    if (const auto done = line.parse(arguments)) return *done;
    if (verb && *verb != "help") return usage_error("ADP-USE-001", "there is no command '" + *verb + "'", "");

    std::vector<std::vector<std::string>> rows;
    for (const Command& command : commands()) rows.push_back({command.name, command.summary});
    Output& output = Output::standard();
    output.write("adpipe shows one layer of a large language model exactly as the GPU ran it.\n\nusage: adpipe COMMAND …\n\n");
    output.write(aligned(rows, "  "));
    output.write("\n`adpipe COMMAND --help` shows how a command is used.\n");
    return finish(exit_ok);
}

}  // namespace adpipe::cli
