#include <adpipe/render/number.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace adpipe::render {

namespace {

constexpr std::string_view narrow_space = "\u202f";

/// Digits with a narrow space before each group of three.
std::string group_digits(const std::string& digits) {
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) out += narrow_space;
        out += digits[i];
    }
    return out;
}

std::string fixed(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

double round_to_three_digits(double value) {
    if (value == 0) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 2);
    return std::round(value / unit) * unit;
}

/// Halves away from zero; whole numbers, so that no binary fraction decides.
Nanoseconds rounded_to_three_digits(Nanoseconds value) {
    if (value < 0) return -rounded_to_three_digits(-std::max(value, -std::numeric_limits<Nanoseconds>::max()));
    Nanoseconds unit = 1;
    while (value / unit >= 1000) unit *= 10;
    return (value + unit / 2) / unit * unit;
}

/// Decimals that show three digits of a value that has been rounded to three.
int decimals_for(double rounded) {
    const double magnitude = std::floor(std::log10(rounded * (1 + 1e-12)));
    return magnitude >= 2 ? 0 : 2 - static_cast<int>(magnitude);
}

}  // namespace

std::string three_digits(double value) {
    if (!std::isfinite(value)) return "-";
    if (value < 0) return "-" + three_digits(-value);
    const double rounded = round_to_three_digits(value);
    if (rounded == 0) return "0";
    const int decimals = decimals_for(rounded);
    return decimals == 0 ? group_digits(fixed(rounded, 0)) : fixed(rounded, decimals);
}

std::string duration_text(Nanoseconds duration) {
    struct Unit {
        Nanoseconds size;
        std::string_view name;
    };
    static constexpr Unit units[] = {{1, " ns"}, {1000, " µs"}, {1000000, " ms"}, {1000000000, " s"}};
    const Nanoseconds rounded = rounded_to_three_digits(duration);
    const Unit* unit = &units[0];
    for (const Unit& candidate : units) {
        if (rounded >= candidate.size || rounded <= -candidate.size) unit = &candidate;
    }
    if (unit == &units[0]) return std::to_string(duration).append(unit->name);
    return three_digits(static_cast<double>(rounded) / static_cast<double>(unit->size)).append(unit->name);
}

std::string microseconds_text(Nanoseconds duration) { return three_digits(static_cast<double>(rounded_to_three_digits(duration)) / 1e3); }

std::string percent_text(Nanoseconds part, Nanoseconds whole) {
    if (whole <= 0) return "-";
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (part == whole) return "100 %";
    if (part == 0) return "0 %";
    if (percent < 0.1 && percent > 0) return "<0.1 %";
    return fixed(percent, 1) + " %";
}

std::string count_text(std::uint64_t count) { return group_digits(std::to_string(count)); }

std::string count_text(std::uint64_t count, std::string_view singular) {
    std::string text = count_text(count);
    text.append(" ").append(singular);
    if (count != 1) text += 's';
    return text;
}

}  // namespace adpipe::render
