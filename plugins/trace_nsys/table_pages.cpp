#include "table_pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace adpipe::nsys {

namespace {

constexpr unsigned char inner_page = 5;
constexpr unsigned char leaf_page = 13;
constexpr std::size_t inner_header = 12;
constexpr std::size_t leaf_header = 8;

std::uint32_t number_at(const unsigned char* bytes, int count) noexcept {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8U | bytes[i];
    return value;
}

/// Seven bits a byte, all eight of the ninth; nothing where it goes beyond `end`. Moves `at` behind it.
inline std::optional<std::uint64_t> variable_number(const unsigned char*& at, const unsigned char* end) noexcept {
    if (at < end && *at < 0x80) return *at++;
    std::uint64_t value = 0;
    for (int i = 0; i < 9 && at < end; ++i) {
        const unsigned char byte = *at++;
        if (i == 8) return value << 8U | byte;
        value = value << 7U | (byte & 0x7fU);
        if (byte < 0x80) return value;
    }
    return std::nullopt;
}

/// Bytes of a value of that type.
constexpr std::size_t length_of(std::uint64_t type) noexcept {
    constexpr std::array<std::uint8_t, 12> lengths{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < lengths.size() ? lengths[static_cast<std::size_t>(type)] : static_cast<std::size_t>((type - lengths.size()) / 2);
}

}  // namespace

/// The file, open for reading.
class TablePages::File {
public:
    explicit File(const std::filesystem::path& path) : handle_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat status {};
        if (handle_ >= 0 && ::fstat(handle_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
    }
    ~File() {
        if (handle_ >= 0) ::close(handle_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool read(std::uint64_t offset, unsigned char* into, std::size_t count) const noexcept {
        while (count > 0) {
            const ssize_t got = ::pread(handle_, into, count, static_cast<off_t>(offset));
            if (got <= 0) return false;
            into += got;
            offset += static_cast<std::uint64_t>(got);
            count -= static_cast<std::size_t>(got);
        }
        return true;
    }
    std::uint64_t size() const noexcept { return size_; }

private:
    int handle_;
    std::uint64_t size_ = 0;
};

TablePages::TablePages(std::shared_ptr<const File> file) : file_(std::move(file)) {}

std::optional<TablePages> TablePages::open(const std::filesystem::path& path, std::int64_t root, std::uint64_t wanted) {
    TablePages pages(std::make_shared<const File>(path));
    std::array<unsigned char, 100> header{};
    if (!pages.file_->read(0, header.data(), header.size())) return std::nullopt;
    const std::size_t size = number_at(&header[16], 2);
    pages.page_size_ = size == 1 ? 65536 : size;
    pages.usable_ = pages.page_size_ - header[20];
    pages.wanted_ = wanted;
    pages.columns_ = static_cast<std::size_t>(std::bit_width(wanted));
    const bool has_sizes = pages.page_size_ >= 512 && (pages.page_size_ & (pages.page_size_ - 1)) == 0 && pages.usable_ >= 480;
    if (!has_sizes || root <= 1 || root > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    if (!pages.collect_leaves(static_cast<std::uint32_t>(root))) return std::nullopt;
    return pages;
}

/// All leaves are equally deep: the way down the first pages tells how deep.
bool TablePages::collect_leaves(std::uint32_t root) {
    constexpr int deepest = 20;
    std::vector<unsigned char> page(page_size_);
    std::uint32_t first = root;
    int levels = 0;
    for (;; ++levels) {
        if (levels > deepest || first == 0 || !file_->read(std::uint64_t{first - 1} * page_size_, page.data(), page_size_)) return false;
        if (page[0] == leaf_page) break;
        if (page[0] != inner_page) return false;
        const std::size_t cell = number_at(&page[3], 2) == 0 ? std::size_t{8} : number_at(&page[inner_header], 2);
        if (cell + 4 > usable_) return false;
        first = number_at(&page[cell], 4);
    }
    return collect_below(root, levels, std::numeric_limits<std::int64_t>::max());
}

/// The leaves below a page that has so many levels below it, none of whose rows has an id larger than `last`.
bool TablePages::collect_below(std::uint32_t number, int levels, std::int64_t last) {
    const bool in_order = leaves_.empty() || leaves_.back().last < last;
    if (!in_order || number == 0 || leaves_.size() * page_size_ > file_->size()) return false;
    if (levels == 0) {
        leaves_.push_back({number, last});
        return true;
    }
    std::vector<unsigned char> page(page_size_);
    if (!file_->read(std::uint64_t{number - 1} * page_size_, page.data(), page_size_) || page[0] != inner_page) return false;
    const std::size_t cells = number_at(&page[3], 2);
    if (inner_header + 2 * cells > usable_) return false;
    for (std::size_t i = 0; i < cells; ++i) {
        const std::size_t cell = number_at(&page[inner_header + 2 * i], 2);
        if (cell + 4 > usable_) return false;
        const unsigned char* key_at = &page[cell] + 4;
        const auto key = variable_number(key_at, page.data() + usable_);
        if (!key || !collect_below(number_at(&page[cell], 4), levels - 1, static_cast<std::int64_t>(*key))) return false;
    }
    return collect_below(number_at(&page[8], 4), levels - 1, last);
}

std::optional<std::int64_t> TablePages::row_id_in(std::size_t leaf, bool last) const {
    Pages pages;
    if (!load(leaf, leaf + 1, pages)) return std::nullopt;
    const unsigned char* page = pages.bytes.data();
    const std::optional<std::size_t> cells = cell_count(page);
    if (!cells || *cells == 0) return std::nullopt;
    const unsigned char* at = page + number_at(page + leaf_header + 2 * (last ? *cells - 1 : 0), 2);
    const unsigned char* const end_of_page = page + usable_;
    if (at >= end_of_page || !variable_number(at, end_of_page)) return std::nullopt;
    const auto id = variable_number(at, end_of_page);
    return id ? std::optional(static_cast<std::int64_t>(*id)) : std::nullopt;
}

std::vector<TablePages::Part> TablePages::parts(std::size_t most) const {
    const auto first = row_id_in(0, false);
    const auto last = row_id_in(leaves_.size() - 1, true);
    if (!first || !last || *last < *first) return {};
    // A row takes two bytes among the offsets, its length, its id and the length of its header, and a type for each column.
    const std::size_t most_rows = leaves_.size() * (page_size_ / (5 + columns_));
    if (static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first) >= most_rows) return {};
    std::vector<Part> parts;
    most = std::clamp<std::size_t>(most, 1, leaves_.size());
    for (std::size_t i = 0; i < most; ++i) {
        Part part{leaves_.size() * i / most, leaves_.size() * (i + 1) / most, *first, *last};
        if (part.begin > 0) part.first_row = leaves_[part.begin - 1].last + 1;
        if (part.end < leaves_.size()) part.last_row = leaves_[part.end - 1].last;
        if (part.first_row < *first || part.last_row > *last || part.last_row < part.first_row) return {};
        parts.push_back(part);
    }
    return parts;
}

bool TablePages::load(std::size_t leaf, std::size_t end, Pages& into) const {
    constexpr std::size_t at_once = 128 << 10;  // bytes: what the processor's own memory holds beside the columns
    const std::size_t most = std::max<std::size_t>(at_once / page_size_, 1);
    into.count = 1;
    while (into.count < most && leaf + into.count < end && leaves_[leaf + into.count].page == leaves_[leaf].page + into.count) ++into.count;
    into.bytes.resize(most * page_size_ + sizeof(std::uint64_t));  // PageRow::integer reads eight bytes wherever it reads
    return file_->read(std::uint64_t{leaves_[leaf].page - 1} * page_size_, into.bytes.data(), into.count * page_size_);
}

std::optional<std::size_t> TablePages::cell_count(const unsigned char* page) const noexcept {
    const std::size_t cells = number_at(page + 3, 2);
    if (page[0] != leaf_page || leaf_header + 2 * cells > usable_) return std::nullopt;
    return cells;
}

bool TablePages::parse(const unsigned char* page, std::size_t cell, Layouts& layouts, PageRow& row) const noexcept {
    const unsigned char* const end_of_page = page + usable_;
    const std::size_t begin = number_at(page + leaf_header + 2 * cell, 2);
    if (begin >= usable_) return false;
    const unsigned char* at = page + begin;
    const auto size = variable_number(at, end_of_page);
    const auto id = variable_number(at, end_of_page);
    constexpr std::size_t kept_in_the_page = 35;  // less than a page; the rest of a longer row lies in other pages
    if (!size || !id || *size > usable_ - kept_in_the_page || *size > static_cast<std::size_t>(end_of_page - at)) return false;
    const unsigned char* after_length = at;
    const auto header = variable_number(after_length, at + *size);
    if (!header || *header > *size) return false;
    row.row_id_ = static_cast<std::int64_t>(*id);
    row.values_ = at + *header;
    row.layout_ = layout_of(at, static_cast<std::size_t>(*header), layouts);
    return row.layout_ != nullptr && row.layout_->values_size <= *size - *header;
}

/// Nothing if a wanted column is no integer, or not there. The header begins with its own length.
const PageRow::Layout* TablePages::layout_of(const unsigned char* header, std::size_t size, Layouts& layouts) const noexcept {
    PageRow::Layout* layout = &layouts.longer;
    if (size <= PageRow::Layout::longest_known) {
        std::uint64_t hash = size;
        for (std::size_t i = 0; i + 8 <= size; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, header + i, 8);
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
        }
        layout = &layouts.by_hash[hash % layouts.by_hash.size()];
        if (layout->header_size == size && std::memcmp(layout->header.data(), header, size) == 0) return layout;
        std::memcpy(layout->header.data(), header, size);
        layout->header_size = size;
    }
    if (take_apart(header, size, *layout)) return layout;
    layout->header_size = 0;
    return nullptr;
}

bool TablePages::take_apart(const unsigned char* header, std::size_t size, PageRow::Layout& layout) const noexcept {
    const unsigned char* types = header;
    const unsigned char* const end = header + size;
    if (!variable_number(types, end)) return false;
    std::size_t offset = 0;
    for (std::size_t c = 0; c < columns_; ++c) {
        const auto type = variable_number(types, end);
        if (!type || length_of(*type) > page_size_) return false;  // no type: the column was added when this row was there already
        layout.offset[c] = static_cast<std::uint16_t>(offset);
        layout.type[c] = static_cast<std::uint8_t>(std::min<std::uint64_t>(*type, PageRow::not_a_number));
        const bool is_integer = layout.type[c] != PageRow::not_a_number && layout.type[c] != PageRow::floating_point;
        if (!is_integer && (wanted_ >> c & 1U) != 0) return false;
        offset += length_of(*type);
    }
    layout.values_size = offset;
    return true;
}

}  // namespace adpipe::nsys
