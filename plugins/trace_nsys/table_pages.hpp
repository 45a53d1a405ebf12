#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace adpipe::nsys {

/// A row of a table as it stands in its page.
class PageRow {
public:
    static constexpr std::size_t most_columns = 64;

    std::int64_t row_id() const noexcept { return row_id_; }
    /// A column of the table, from 0, of those that were asked for; 0 for NULL.
    [[gnu::always_inline]] std::int64_t integer(std::size_t column) const noexcept {
        const Reading& how = readings[layout_->type[column]];
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, values_ + layout_->offset[column], sizeof bytes);
        return ((static_cast<std::int64_t>(__builtin_bswap64(bytes)) >> how.shift) & how.mask) | how.constant;
    }

    bool is_null(std::size_t column) const noexcept { return layout_->type[column] == 0; }

private:
    friend class TablePages;
    /// How a type is read: of eight bytes, big end first, the upper ones; or a constant.
    struct Reading {
        std::int64_t mask;
        std::int32_t constant;
        std::int32_t shift;
    };
    static constexpr std::uint8_t floating_point = 7, not_a_number = 10;
    /// By the number that the format has for the type.
    static constexpr std::array<Reading, not_a_number + 1> readings{{{0, 0, 0},
                                                                     {-1, 0, 56},
                                                                     {-1, 0, 48},
                                                                     {-1, 0, 40},
                                                                     {-1, 0, 32},
                                                                     {-1, 0, 16},
                                                                     {-1, 0, 0},
                                                                     {0, 0, 0},
                                                                     {0, 0, 0},
                                                                     {0, 1, 0},
                                                                     {0, 0, 0}}};

    /// The types of a row, and where that puts its values.
    struct Layout {
        static constexpr std::size_t longest_known = 64;
        std::array<unsigned char, longest_known> header{};  ///< as it stands in the row
        std::size_t header_size = 0;                        ///< 0: of no row
        std::array<std::uint8_t, most_columns> type{};
        std::array<std::uint16_t, most_columns> offset{};  ///< from the first value
        std::size_t values_size = 0;                       ///< up to the last column that is looked at
    };

    std::int64_t row_id_ = 0;
    const unsigned char* values_ = nullptr;
    const Layout* layout_ = nullptr;
};

/// The rows of one table, from the pages of an SQLite file, without SQLite: a fraction of the time where some integers are wanted of a million rows.
/// It reads what is entirely regular, and says so where it meets anything else: then SQLite is to be asked, and has the last word.
///
/// The format is https://www.sqlite.org/fileformat2.html, which its makers promise to keep. A table is a tree of pages; its leaves hold the rows in
/// the order of their ids. A row is a list of types, then the values behind each other.
class TablePages {
public:
    /// `root`: the tree's page, as sqlite_master has it. `wanted`: a bit for each column, from the lowest. Nothing where file or tree are not regular.
    static std::optional<TablePages> open(const std::filesystem::path& file, std::int64_t root, std::uint64_t wanted);

    /// A number of leaves, and the ids that their rows may have.
    struct Part {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::int64_t first_row = 0;
        std::int64_t last_row = 0;
        std::size_t room() const noexcept { return static_cast<std::size_t>(last_row - first_row) + 1; }
    };
    /// The whole table, divided into at most so many parts of about equally many leaves. Empty where the table is, and where its row ids lie so far
    /// apart that a place for each would be far more than there are rows, or cannot be believed.
    std::vector<Part> parts(std::size_t most) const;
    std::size_t leaf_count() const noexcept { return leaves_.size(); }

    /// Calls `use(const PageRow&)` with every row of the leaves from `begin` to before `end`, in the order of their ids. False where something is not
    /// regular, as is a wanted column that is neither an integer nor NULL, or a row that does not belong in its leaf; it may have been called with some
    /// rows by then. Several threads may read.
    template <class Use>
    bool read(std::size_t begin, std::size_t end, Use&& use) const {
        Pages pages;
        PageRow row;
        Layouts layouts;
        std::optional<std::int64_t> before;
        if (begin > 0) before = leaves_[begin - 1].last;
        for (std::size_t leaf = begin; leaf < end; leaf += pages.count) {
            if (!load(leaf, end, pages)) return false;
            for (std::size_t i = 0; i < pages.count; ++i) {
                const unsigned char* page = pages.bytes.data() + i * page_size_;
                const std::optional<std::size_t> cells = cell_count(page);
                if (!cells) return false;
                for (std::size_t cell = 0; cell < *cells; ++cell) {
                    if (!parse(page, cell, layouts, row) || (before && row.row_id() <= *before)) return false;
                    before = row.row_id();
                    use(row);
                }
                if (before && *before > leaves_[leaf + i].last) return false;
            }
        }
        return true;
    }

private:
    struct Leaf {
        std::uint32_t page;
        std::int64_t last;  ///< no row in it has a larger id
    };
    class File;
    /// Leaves that lie behind each other in the file, in memory.
    struct Pages {
        std::vector<unsigned char> bytes;
        std::size_t count = 0;
    };

    /// Rows of a table have some dozen layouts between them: each is taken apart once.
    struct Layouts {
        std::array<PageRow::Layout, 128> by_hash;
        PageRow::Layout longer;  ///< of the last row whose header is too long for these
    };

    explicit TablePages(std::shared_ptr<const File> file);
    bool collect_leaves(std::uint32_t root);
    bool collect_below(std::uint32_t page, int levels, std::int64_t last);
    bool load(std::size_t leaf, std::size_t end, Pages& into) const;
    /// The id of the first or of the last row of a leaf.
    std::optional<std::int64_t> row_id_in(std::size_t leaf, bool last) const;
    std::optional<std::size_t> cell_count(const unsigned char* page) const noexcept;
    bool parse(const unsigned char* page, std::size_t cell, Layouts& layouts, PageRow& row) const noexcept;
    const PageRow::Layout* layout_of(const unsigned char* header, std::size_t size, Layouts& layouts) const noexcept;
    bool take_apart(const unsigned char* header, std::size_t size, PageRow::Layout& layout) const noexcept;

    std::shared_ptr<const File> file_;
    std::size_t page_size_ = 0;
    std::size_t usable_ = 0;  ///< bytes of a page that hold data
    std::uint64_t wanted_ = 0;
    std::size_t columns_ = 0;  ///< up to the last wanted one
    std::vector<Leaf> leaves_;
};

}  // namespace adpipe::nsys
