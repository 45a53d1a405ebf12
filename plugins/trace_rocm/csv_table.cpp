#include "csv_table.hpp"

#include <algorithm>
#include <charconv>

namespace adpipe::rocm {

CsvTable::CsvTable(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    unescaped_.reserve(256);  // views point into these
    if (!next()) return;
    for (const std::string_view name : fields_) names_.emplace_back(name);
}

int CsvTable::column(std::string_view name) const noexcept {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

bool CsvTable::next() {
    while (at_ < text_.size()) {
        if (read_row()) return true;
    }
    return false;
}

/// False for an empty line.
bool CsvTable::read_row() {
    fields_.clear();
    unescaped_.clear();
    row_line_ = line_;
    closed_ = false;
    for (;;) {
        fields_.push_back(read_field());
        if (at_ >= text_.size()) break;
        const char ch = text_[at_++];
        if (ch == ',') continue;
        if (ch == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
        ++line_;
        closed_ = true;
        break;
    }
    return fields_.size() > 1 || !fields_.front().empty();
}

std::string_view CsvTable::read_field() {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted();
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    return text_.substr(begin, at_ - begin);
}

std::string_view CsvTable::read_quoted() {
    const std::size_t begin = ++at_;
    bool doubled = false;
    std::size_t end = begin;
    for (;;) {
        end = text_.find('"', at_);
        if (end == std::string_view::npos) {
            at_ = end = text_.size();
            break;
        }
        at_ = end + 1;
        if (at_ >= text_.size() || text_[at_] != '"') break;
        doubled = true;
        ++at_;
    }
    const std::string_view raw = text_.substr(begin, end - begin);
    line_ += static_cast<std::uint32_t>(std::count(raw.begin(), raw.end(), '\n'));
    // What stands between the closing quote and the next comma belongs to no field.
    at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    if (!doubled || unescaped_.size() == unescaped_.capacity()) return raw;
    std::string& text = unescaped_.emplace_back();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        text += raw[i];
        if (raw[i] == '"') ++i;
    }
    return text;
}

std::string_view CsvTable::field(int column) const noexcept {
    return column < 0 || static_cast<std::size_t>(column) >= fields_.size() ? std::string_view{}
                                                                            : fields_[static_cast<std::size_t>(column)];
}

std::int64_t CsvTable::integer(int column, std::int64_t otherwise) const noexcept {
    const std::string_view text = field(column);
    std::int64_t value = 0;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} && result.ptr == text.data() + text.size() ? value : otherwise;
}

}  // namespace adpipe::rocm
