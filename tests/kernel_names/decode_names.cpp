// Decodes kernel names, one a line on standard input: library, category, rule, parameters, short name, separated by
// tabs. For corpus_test.py.

#include <adpipe/kernel_names.hpp>

#include <iostream>
#include <string>

int main() {
    const adpipe::KernelNames& names = adpipe::KernelNames::built_in();
    for (std::string line; std::getline(std::cin, line);) {
        const adpipe::KernelName name = names.decode(line);
        std::string parameters;
        for (const adpipe::KernelParameter& p : name.parameters) {
            parameters += (parameters.empty() ? "" : " ") + p.name + "=" + p.value;
        }
        std::cout << name.library << '\t' << adpipe::category_text(name.category) << '\t' << name.rule << '\t' << parameters << '\t'
                  << name.short_name << '\n';
    }
}
