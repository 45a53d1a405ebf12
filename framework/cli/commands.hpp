#pragma once

#include "cli/command_line.hpp"

#include <span>

namespace adpipe::cli {

/// A verb of the command line.
struct Command {
    const char* name;
    const char* summary;
    int (*run)(const Arguments& arguments);
};

/// All verbs, in the order of `adpipe help`.
std::span<const Command> commands();

int cmd_run(const Arguments& arguments);
int cmd_check(const Arguments& arguments);
int cmd_layer(const Arguments& arguments);
int cmd_members(const Arguments& arguments);
int cmd_kernels(const Arguments& arguments);
int cmd_layers(const Arguments& arguments);
int cmd_tables(const Arguments& arguments);
int cmd_map(const Arguments& arguments);
int cmd_walkthrough(const Arguments& arguments);
int cmd_sources(const Arguments& arguments);
int cmd_inventory(const Arguments& arguments);
int cmd_steps(const Arguments& arguments);
int cmd_doctor(const Arguments& arguments);
int cmd_list(const Arguments& arguments);
int cmd_inspect(const Arguments& arguments);
int cmd_plugins(const Arguments& arguments);
int cmd_graph(const Arguments& arguments);
int cmd_schema(const Arguments& arguments);
int cmd_version(const Arguments& arguments);
int cmd_help(const Arguments& arguments);

}  // namespace adpipe::cli
