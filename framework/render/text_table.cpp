#include <adpipe/render/text_table.hpp>

#include <adpipe/render/text.hpp>

#include <algorithm>
#include <utility>

namespace adpipe::render {

namespace {

std::string_view escape_of(Emphasis emphasis) {
    switch (emphasis) {
        case Emphasis::strong: return "\x1b[1m";
        case Emphasis::quiet: return "\x1b[2m";
        case Emphasis::warm: return "\x1b[33m";
        case Emphasis::hot: return "\x1b[1;31m";
        case Emphasis::none: return {};
    }
    return {};
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string emphasised(std::string_view text, Emphasis emphasis, bool colour) {
    if (!colour || emphasis == Emphasis::none || text.empty()) return std::string{text};
    return std::string{escape_of(emphasis)} + std::string{text} + "\x1b[0m";
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
    std::vector<Cell> heads;
    for (const Column& column : columns_) heads.push_back({column.head, Emphasis::quiet});
    rows_.push_back({Kind::row, std::move(heads)});
}

void TextTable::add_row(std::vector<Cell> cells) { rows_.push_back({Kind::row, std::move(cells)}); }
void TextTable::add_heading(std::vector<Cell> cells) { rows_.push_back({Kind::heading, std::move(cells)}); }
void TextTable::add_rule() { rows_.push_back({Kind::rule, {}}); }

std::vector<int> TextTable::widths(int width) const {
    std::vector<int> result(columns_.size(), 0);
    for (const Row& row : rows_) {
        for (std::size_t i = 0; i < std::min(row.cells.size(), columns_.size()); ++i) {
            // A heading's first cell runs over its neighbours, so it asks for no width.
            if (row.kind == Kind::heading && i == 0) continue;
            result[i] = std::max(result[i], display_width(visible_text(row.cells[i].text)));
        }
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) result[i] = std::min(result[i], columns_[i].most);
    for (std::size_t i = columns_.size(); i-- > 0 && !fits(result, width);) {
        if (columns_[i].may_go) result[i] = 0;
    }
    // The widest column that may be cut gives way first.
    for (int excess = total_width(result) - width; excess > 0; --excess) {
        std::size_t widest = columns_.size();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool can_give = columns_[i].least > 0 && result[i] > columns_[i].least;
            if (can_give && (widest == columns_.size() || result[i] > result[widest])) widest = i;
        }
        if (widest == columns_.size()) break;
        --result[widest];
    }
    return result;
}

/// Whether cutting what may be cut is enough.
bool TextTable::fits(const std::vector<int>& widths, int width) const {
    std::vector<int> least = widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].least > 0) least[i] = std::min(least[i], columns_[i].least);
    }
    return total_width(least) <= width;
}

int TextTable::total_width(const std::vector<int>& widths) const {
    int total = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].may_go && widths[i] == 0) continue;
        total += widths[i] + (i == 0 ? 0 : columns_[i].gap);
    }
    return total;
}

std::string TextTable::line(const Row& row, const std::vector<int>& widths, bool colour) const {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].may_go && widths[i] == 0) continue;
        if (i > 0) out += std::string(static_cast<std::size_t>(columns_[i].gap), ' ');
        const Cell cell = i < row.cells.size() ? row.cells[i] : Cell{};
        int width = widths[i];
        if (row.kind == Kind::heading && i == 0) {
            while (i + 1 < columns_.size() && (i + 1 >= row.cells.size() || row.cells[i + 1].text.empty())) {
                ++i;
                width += columns_[i].gap + widths[i];
            }
        }
        const std::string text = fit_name(visible_text(cell.text), width);
        const std::string padding = pad_right("", width - display_width(text));
        const bool right = columns_[i].right && row.kind != Kind::heading;
        const bool right_in_heading = row.kind == Kind::heading && out.size() > 0 && columns_[i].right;
        const std::string shown = emphasised(text, cell.emphasis, colour);
        out += right || right_in_heading ? padding + shown : shown + padding;
    }
    trim_right(out);
    return out + "\n";
}

std::string TextTable::text(int width, bool colour) const {
    const std::vector<int> column_widths = widths(width);
    const int total = total_width(column_widths);
    std::string out;
    for (const Row& row : rows_) {
        if (row.kind == Kind::rule) {
            for (int i = 0; i < total; ++i) out += "─";
            out += '\n';
        } else {
            out += line(row, column_widths, colour);
        }
    }
    return out;
}

TextTable::Cell bar_cell(double part, double largest) {
    constexpr int columns = 8;
    return {largest > 0 ? bar_text(part / largest, columns) : std::string{}, Emphasis::none};
}

}  // namespace adpipe::render
