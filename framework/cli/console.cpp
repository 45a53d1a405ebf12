#include "cli/console.hpp"

#include "cli/command_line.hpp"

#include <adpipe/render/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace adpipe::cli {
namespace {

constexpr std::size_t most_diagnostics = 20;

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

bool wants_colour(int descriptor) {
    const char* no_colour = std::getenv("NO_COLOR");
    if (no_colour != nullptr && *no_colour != '\0') return false;
    const char* terminal = std::getenv("TERM");
    return ::isatty(descriptor) == 1 && terminal != nullptr && std::string_view{terminal} != "dumb";
}

std::optional<int> columns_of(int descriptor) {
    winsize size{};
    if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return size.ws_col;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

Output& Output::standard() {
    static Output output;
    return output;
}

void Output::write(std::string_view text) {
    if (text.size() < piece / 2) {
        buffer_ += text;
        if (buffer_.size() >= piece) flush();
        return;
    }
    flush();
    if (error_ == 0) error_ = write_all(STDOUT_FILENO, text);
}

bool Output::flush() {
    if (error_ == 0) error_ = write_all(STDOUT_FILENO, buffer_);
    buffer_.clear();
    return error_ == 0;
}

int finish(int status) {
    Output& output = Output::standard();
    if (output.flush()) return status;
    Diagnostic diagnostic;
    diagnostic.code = "ADP-RUN-014";
    diagnostic.message = "cannot write to standard output: " + std::generic_category().message(output.error_);
    show({diagnostic});
    return exit_failed;
}

void tell(std::string_view text) {
    Output::standard().flush();  // so that both appear in order on a terminal
    (void)write_all(STDERR_FILENO, text);
}

void show(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    std::size_t errors = 0;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.severity == Severity::error && ++errors > most_diagnostics) continue;
        text += format_text(diagnostic, error_has_colour());
    }
    if (errors > most_diagnostics) text += fmt::format("… and {} more errors\n", errors - most_diagnostics);
    tell(text);
}

bool error_has_colour() {
    static const bool colour = wants_colour(STDERR_FILENO);
    return colour;
}

bool error_is_terminal() {
    static const bool terminal = ::isatty(STDERR_FILENO) == 1;
    return terminal;
}

std::optional<int> error_columns() { return columns_of(STDERR_FILENO); }

Terminal output_terminal() {
    Terminal terminal;
    terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
    terminal.colour = wants_colour(STDOUT_FILENO);
    terminal.columns = columns_of(STDOUT_FILENO).value_or(terminal.columns);
    return terminal;
}

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

std::string tsv_text(std::string_view text) {
    std::string field{text};
    blank_controls(field);
    return field;
}

namespace {

/// True if one of eight characters is a control character (below 0x20, or 0x7f): the usual tests on a word for a byte below a bound and for
/// a zero byte.
bool has_control(const char* eight) {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t tops = 0x80 * ones;
    std::uint64_t word = 0;
    std::memcpy(&word, eight, sizeof word);
    const std::uint64_t below_space = (word - 0x20 * ones) & ~word & tops;
    const std::uint64_t delete_to_zero = word ^ (0x7f * ones);
    return (below_space | ((delete_to_zero - ones) & ~delete_to_zero & tops)) != 0;
}

}  // namespace

void blank_controls(std::span<char> text) {
    for (std::size_t i = 0; i < text.size();) {
        if (i + 8 <= text.size() && !has_control(text.data() + i)) {
            i += 8;
            continue;
        }
        for (const std::size_t end = std::min(i + 8, text.size()); i < end; ++i) {
            if (static_cast<unsigned char>(text[i]) < 0x20 || text[i] == '\x7f') text[i] = ' ';
        }
    }
}

namespace {

/// The end of a paragraph: a line that begins with a space or a sign, or an empty one, stands for itself.
std::size_t end_of_paragraph(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
        const unsigned char next = end + 1 < text.size() ? static_cast<unsigned char>(text[end + 1]) : '\n';
        if (std::isalnum(next) == 0 && next != '`' && next != '(' && next < 0x80) return end;
    }
    return text.size();
}

}  // namespace

std::string broken(std::string_view text, std::size_t indent) {
    std::string result;
    while (true) {
        const std::size_t end = end_of_paragraph(text);
        std::string paragraph{text.substr(0, end)};
        std::replace(paragraph.begin(), paragraph.end(), '\n', ' ');
        const int columns = text_columns - static_cast<int>(indent);
        const bool fits = static_cast<int>(display_width(paragraph)) <= columns;  // then also with what spaces it holds
        for (const std::string& line : fits ? std::vector{paragraph} : render::wrapped(paragraph, columns)) {
            if (!result.empty()) result.append(1, '\n').append(line.empty() ? 0 : indent, ' ');
            result += line;
        }
        if (end == text.size()) return result;
        text.remove_prefix(end + 1);
    }
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        text += indent;
        std::size_t padding = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (row[i].empty()) {
                padding += widths[i] + 2;  // written only if something follows
                continue;
            }
            text.append(padding, ' ');
            text += row[i];
            padding = widths[i] - display_width(row[i]) + 2;
        }
        text += '\n';
    }
    return text;
}

}  // namespace adpipe::cli
