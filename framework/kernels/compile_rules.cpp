// Build tool: turns the rules files into constant tables, so that the program reads no YAML to know a kernel's name.
// Usage: compile_rules OUTPUT.cpp RULES.yaml...

#include "kernels/rule_reader.hpp"

#include <fstream>
#include <iostream>
#include <string>

namespace {

using namespace adpipe::kernels;

/// As a C++ string literal; the rules are plain text, anything else becomes an octal escape.
std::string literal(std::string_view text) {
    static constexpr char digits[] = "01234567";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f || c == '?') {  // '?' could begin a trigraph
            out += '\\';
            out += digits[byte >> 6U];
            out += digits[(byte >> 3U) & 7U];
            out += digits[byte & 7U];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string texts(std::ostream& out, const std::string& name, std::span<const std::string_view> list) {
    if (list.empty()) return "{}";
    out << "constexpr std::string_view " << name << "[] = {";
    for (const std::string_view text : list) out << literal(text) << ", ";
    out << "};\n";
    return name;
}

std::string pairs(std::ostream& out, const std::string& name, std::span<const NamedText> list) {
    if (list.empty()) return "{}";
    out << "constexpr NamedText " << name << "[] = {";
    for (const NamedText& pair : list) out << "{" << literal(pair.name) << ", " << literal(pair.text) << "}, ";
    out << "};\n";
    return name;
}

std::string templates(std::ostream& out, const std::string& name, std::span<const TemplateArguments> list) {
    if (list.empty()) return "{}";
    for (std::size_t i = 0; i < list.size(); ++i) {
        out << "constexpr NumberedArgument " << name << i << "[] = {";
        for (const NumberedArgument& argument : list[i].arguments) {
            out << "{" << argument.position << ", " << literal(argument.name) << "}, ";
        }
        out << "};\n";
    }
    out << "constexpr TemplateArguments " << name << "[] = {";
    for (std::size_t i = 0; i < list.size(); ++i) out << "{" << literal(list[i].name) << ", " << name << i << "}, ";
    out << "};\n";
    return name;
}

std::string letter_codes(std::ostream& out, const std::string& name, std::span<const LetterCode> list) {
    if (list.empty()) return "{}";
    std::string codes;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string id = name + std::to_string(i);
        codes += "{" + literal(list[i].field) + ", " + pairs(out, id + "means", list[i].means) + ", ";
        codes += texts(out, id + "orders", list[i].orders) + "}, ";
    }
    out << "constexpr LetterCode " << name << "[] = {" << codes << "};\n";
    return name;
}

void write(std::ostream& out, const RuleSet& set) {
    out << "// Made by compile_rules from configs/rules/kernel_names.\n#include \"kernels/rule.hpp\"\n\n"
           "namespace adpipe::kernels {\n\nnamespace {\n\n";
    std::string rules;
    for (std::size_t i = 0; i < set.rules.size(); ++i) {
        const Rule& rule = set.rules[i];
        const std::string id = "r" + std::to_string(i) + "_";
        rules += "    {" + literal(rule.library) + ", " + literal(rule.id) + ", " + literal(rule.short_name) +
                 ", static_cast<KernelCategory>(" + std::to_string(static_cast<int>(rule.category)) + "), ";
        rules += texts(out, id + "names", rule.names) + ", " + texts(out, id + "has", rule.has) + ", ";
        rules += texts(out, id + "any", rule.any) + ", " + texts(out, id + "lacks", rule.lacks) + ", ";
        rules += texts(out, id + "read", rule.read) + ", " + templates(out, id + "templates", rule.templates) + ", ";
        rules += pairs(out, id + "flags", rule.flags) + ", " + pairs(out, id + "parameters", rule.parameters) + ", ";
        rules += letter_codes(out, id + "letters", rule.letters) + "},\n";
    }
    out << "constexpr Rule rules[] = {\n"
        << rules << "};\n\n}  // namespace\n\n"
        << "std::span<const Rule> built_in_rules() noexcept { return rules; }\n\n}  // namespace adpipe::kernels\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: compile_rules OUTPUT.cpp RULES.yaml...\n";
        return 2;
    }
    try {
        RuleSet set;
        for (int i = 2; i < argc; ++i) read_rules(argv[i], set);
        std::ofstream out{argv[1]};
        write(out, set);
        out.close();
        if (!out) throw std::runtime_error(std::string{"cannot write "} + argv[1]);
    } catch (const RuleError& error) {
        std::cerr << error.file << ":" << error.line << ": " << error.what() << "\n";
        return 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
