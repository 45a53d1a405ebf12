#include "layer_names.hpp"

#include <algorithm>
#include <set>

namespace adpipe::member {

namespace {

bool is_separator(char c) { return c == '_' || c == '.'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Where the token that ends before `end` begins.
std::size_t token_begin(std::string_view name, std::size_t end) {
    while (end > 0 && !is_separator(name[end - 1])) --end;
    return end;
}

struct Number {
    std::size_t begin;
    std::size_t end;
    LayerId value;
};

/// The number that begins there, if nothing but a separator or the end comes after it.
std::optional<Number> number_at(std::string_view name, std::size_t begin) {
    Number number{begin, begin, 0};
    while (number.end < name.size() && is_digit(name[number.end]) && number.end - number.begin < 7) {
        number.value = number.value * 10 + (name[number.end++] - '0');
    }
    const bool alone = number.end == name.size() || is_separator(name[number.end]);
    return number.end > begin && alone ? std::optional{number} : std::nullopt;
}

/// The numbers that stand alone between separators, from left to right, none of them first.
template <class Take>
void for_each_number(std::string_view name, Take take) {
    for (std::size_t i = 1; i + 1 < name.size(); ++i) {
        if (!is_separator(name[i])) continue;
        const auto number = number_at(name, i + 1);
        if (number && !take(*number)) return;
    }
}

}  // namespace

LayerNames::LayerNames(std::vector<std::string> words, std::vector<std::string> compounds)
    : words_(std::move(words)), compounds_(std::move(compounds)) {}

/// Where the module name that ends before `end` begins: names written with '_' for '.' have module names of several tokens.
std::size_t LayerNames::module_begin(std::string_view name, std::size_t end) const {
    const std::string_view path = name.substr(0, end);
    for (const std::string& compound : compounds_) {
        if (!path.ends_with(compound)) continue;
        const std::size_t begin = end - compound.size();
        if (begin == 0 || is_separator(path[begin - 1])) return begin;
    }
    return token_begin(name, end);
}

bool LayerNames::is_layer_word(std::string_view name, std::size_t end) const {
    const std::size_t begin = module_begin(name, end);
    const std::string_view word = name.substr(begin, end - begin);
    return std::find(words_.begin(), words_.end(), word) != words_.end();
}

std::optional<LayerNames::Found> LayerNames::find_number(std::string_view name) const {
    std::optional<Found> found;
    for_each_number(name, [&](const Number& number) {
        const std::size_t container_end = number.begin - 1;
        const std::string_view container = name.substr(0, container_end);
        const bool known = learned_.empty() ? is_layer_word(name, container_end)
                                            : std::find(learned_.begin(), learned_.end(), container) != learned_.end();
        if (!known) return true;
        found = Found{container_end, std::min(number.end + 1, name.size()), number.value};
        return false;
    });
    return found;
}

void LayerNames::learn(const std::vector<std::string_view>& weights) {
    for (const std::string_view name : weights) {
        if (find_number(name)) return;
    }
    // No name has a word for layers: the layers are the outermost numbering in which the same roles come back under several numbers.
    struct Numbering {
        std::set<LayerId> numbers;
        std::set<std::string_view> roles;
        std::size_t weights = 0;
    };
    std::map<std::string_view, Numbering> numberings;
    for (const std::string_view name : weights) {
        for_each_number(name, [&](const Number& number) {
            if (number.end >= name.size()) return false;
            Numbering& numbering = numberings[name.substr(0, number.begin - 1)];
            numbering.numbers.insert(number.value);
            numbering.roles.insert(name.substr(number.end + 1));
            ++numbering.weights;
            return false;
        });
    }
    for (const auto& [container, numbering] : numberings) {
        const bool repeats = numbering.numbers.size() >= 2 && numbering.roles.size() >= 2;
        if (repeats && numbering.weights >= 2 * numbering.roles.size()) learned_.emplace_back(container);
    }
}

std::optional<LayerName> LayerNames::of_weight(std::string_view name) {
    const auto found = find_number(name);
    if (!found) return std::nullopt;
    const std::string_view path = name.substr(0, found->container_end);
    std::uint32_t container = 0;
    while (container < containers_.size() && containers_[container].path != path) ++container;
    if (container == containers_.size()) containers_.push_back({std::string{path}, {}});
    return LayerName{container, found->layer, name.substr(found->role_begin)};
}

std::optional<LayerName> LayerNames::of_activation(std::string_view name) const {
    for (std::uint32_t i = 0; i < containers_.size(); ++i) {
        const std::string& path = containers_[i].path;
        if (name.size() <= path.size() + 1 || name.substr(0, path.size()) != path || !is_separator(name[path.size()])) continue;
        // The same path was the first before a layer's number in the name of a weight, so it is here.
        const auto number = number_at(name, path.size() + 1);
        if (number) return LayerName{i, number->value, name.substr(std::min(number->end + 1, name.size()))};
    }
    return std::nullopt;
}

std::optional<std::uint32_t> LayerNames::outside_layers_of(std::string_view name) const {
    if (of_activation(name)) return std::nullopt;
    std::optional<std::uint32_t> nearest;
    std::size_t longest = 0;
    for (std::uint32_t i = 0; i < containers_.size(); ++i) {
        const std::string_view path = containers_[i].path;
        const std::size_t parent = token_begin(path, path.size());
        const bool is_inside = name.size() > parent && name.substr(0, parent) == path.substr(0, parent);
        const bool is_parent = parent > 1 && name == path.substr(0, parent - 1);
        if (parent <= longest || !(is_inside || is_parent)) continue;
        longest = parent;
        nearest = i;
    }
    return nearest;
}

std::string LayerNames::last_module(std::string_view path) const {
    const std::size_t word = token_begin(path, path.size());
    if (word == 0) return {};
    const std::string_view parent = path.substr(0, word - 1);
    return std::string{parent.substr(module_begin(parent, parent.size()))};
}

std::string LayerNames::with_dots(std::string_view path) const {
    std::string dotted{path};
    if (path.find('.') != std::string_view::npos) return dotted;
    for (std::size_t end = path.size(); end > 0;) {
        const std::size_t begin = module_begin(path, end);
        if (begin == 0) break;
        dotted[begin - 1] = '.';
        end = begin - 1;
    }
    return dotted;
}

void LayerNames::name_stacks() {
    std::vector<std::string> last;
    for (const LayerContainer& container : containers_) last.push_back(last_module(container.path));
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        LayerContainer& container = containers_[i];
        if (!last[i].empty() && std::count(last.begin(), last.end(), last[i]) == 1) {
            container.stack = last[i];
            continue;
        }
        // Not unique: the whole path of the module that holds the layers.
        const std::size_t word = token_begin(container.path, container.path.size());
        container.stack = word > 1 ? with_dots(std::string_view{container.path}.substr(0, word - 1)) : container.path;
    }
}

}  // namespace adpipe::member
