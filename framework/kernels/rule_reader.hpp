#pragma once

#include "kernels/rule.hpp"

#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace adpipe::kernels {

/// A name that a rule must decode, with what must come out: part of the rule's documentation, and of the test suite.
struct RuleExample {
    std::string rule;
    std::string name;
    std::vector<KernelParameter> parameters;
};

/// Rules read at run time, with the memory that they point into.
struct RuleSet {
    std::deque<std::string> texts;
    std::deque<std::vector<std::string_view>> lists;
    std::deque<std::vector<NamedText>> pairs;
    std::deque<std::vector<NumberedArgument>> arguments;
    std::deque<std::vector<TemplateArguments>> templates;
    std::deque<std::vector<LetterCode>> letters;
    std::vector<Rule> rules;
    std::vector<RuleExample> examples;
};

/// A rules file that is not as it must be. what() is "message", without the place.
struct RuleError : std::runtime_error {
    RuleError(const std::string& message, std::string file_name, int line_number)
        : std::runtime_error(message), file(std::move(file_name)), line(line_number) {}
    std::string file;
    int line;  ///< from 1; 0: not known
};

/// Adds the rules of one file. Throws RuleError.
void read_rules(const std::filesystem::path& file, RuleSet& set);

}  // namespace adpipe::kernels
