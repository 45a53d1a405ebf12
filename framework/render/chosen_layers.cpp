#include <adpipe/render/chosen_layers.hpp>

#include <adpipe/diagnostic.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace adpipe::render {

namespace {

/// "0–60", "0–5, 7".
std::string range_text(const std::set<LayerId>& numbers) {
    std::string text;
    for (auto it = numbers.begin(); it != numbers.end();) {
        LayerId last = *it;
        auto next = std::next(it);
        while (next != numbers.end() && *next == last + 1) last = *next++;
        text += (text.empty() ? "" : ", ") + std::to_string(*it);
        if (last > *it) text += (last == *it + 1 ? ", " : "–") + std::to_string(last);
        it = next;
    }
    return text;
}

std::string there_are(const Layers& layers) {
    std::set<LayerId> numbers;
    for (const Layer& layer : layers.layers) {
        if (!layer.outside) numbers.insert(layer.number);
    }
    if (numbers.empty()) return "no layer was found in this graph";
    return numbers.size() == 1 ? "layer " + range_text(numbers) + " is there" : "layers " + range_text(numbers) + " are there";
}

bool is_known_format(std::string_view name) {
    std::string_view rest = any_format;
    while (true) {
        const std::size_t bar = std::min(rest.find('|'), rest.size());
        if (rest.substr(0, bar) == name) return true;
        if (bar == rest.size()) return false;
        rest.remove_prefix(bar + 1);
    }
}

template <class Range>
bool has(const Range& range, std::string_view name) {
    return std::find(range.begin(), range.end(), name) != range.end();
}

}  // namespace

LayerViews layer_views(const Context& context) {
    return LayerViews(context.in_shared<GraphModel>("graph"), context.in_shared<Layers>("layers"),
                      context.maybe<Attribution>("attribution"), context.many<Metrics>("metrics"));
}

std::vector<const Layer*> chosen_layers(const Context& context, const Layers& layers) {
    const LayerSelection& wanted = context.layers();
    if (!wanted.all && wanted.layers.empty()) {
        throw Error("ADP-RND-002", "no layer was chosen, and " + there_are(layers),
                    "say which with `layer:` in the config or with --layer: a number, a list, a range, or \"all\"");
    }
    std::vector<const Layer*> chosen;
    std::vector<LayerId> missing;
    std::set<LayerId> numbers(wanted.layers.begin(), wanted.layers.end());
    if (wanted.all) {
        for (const Layer& layer : layers.layers) {
            if (!layer.outside) numbers.insert(layer.number);
        }
        if (numbers.empty()) throw Error("ADP-RND-001", there_are(layers));
    }
    for (const LayerId number : numbers) {
        const Layer* first = layers.find(number);
        if (first == nullptr || first->outside) {
            missing.push_back(number);
            continue;
        }
        for (const Layer& layer : layers.layers) {
            if (layer.number == number && layer.module == first->module) chosen.push_back(&layer);
        }
    }
    if (!missing.empty()) {
        const std::set<LayerId> absent(missing.begin(), missing.end());
        throw Error("ADP-RND-001", (absent.size() == 1 ? "layer " : "layers ") + range_text(absent) +
                                       (absent.size() == 1 ? " is" : " are") + " not there; " + there_are(layers));
    }
    return chosen;
}

std::string layer_file_stem(const LayerView& view) {
    std::string stem = file_name_part(view.graph->source().stem().string());
    const bool several = std::any_of(view.layers->layers.begin(), view.layers->layers.end(), [&](const Layer& layer) {
        return layer.module == view.layer->module && layer.stack != view.layer->stack;
    });
    if (several && !view.stack().empty()) stem += "_" + file_name_part(view.stack());
    return stem + "_layer" + layer_text(view.number());
}

std::vector<std::string> chosen_formats(const std::vector<std::string>& wanted, const std::vector<std::string_view>& own,
                                        const std::vector<std::string_view>& fallback) {
    std::vector<std::string> formats;
    for (const std::string& name : wanted) {
        if (has(own, name) || is_known_format(name)) continue;
        std::string list;
        for (const std::string_view format : own) list += (list.empty() ? "" : ", ") + std::string{format};
        throw Error("ADP-RND-007", "no renderer has a format \"" + visible_text(name) + "\"", "this one writes " + list);
    }
    for (const std::string_view format : own) {
        if (has(wanted, format)) formats.emplace_back(format);
    }
    if (formats.empty()) formats.assign(fallback.begin(), fallback.end());
    return formats;
}

}  // namespace adpipe::render
