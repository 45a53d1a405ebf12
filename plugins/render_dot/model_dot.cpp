#include "model_dot.hpp"

#include "layer_dot.hpp"
#include "node_table.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace adpipe::render_dot {

namespace {

using render::LayerView;

constexpr int longest_range = 48;  ///< of the list of a kind's layers

/// Layers of one stack with the same structure.
struct KindOfLayer {
    std::vector<const LayerView*> layers;
    Nanoseconds sum = 0;  ///< over its layers
};

/// A part of a layer, over the layers of a kind.
struct LayerPart {
    std::string title;
    std::string_view fill;
    std::size_t nodes = 0;  ///< in one layer
    std::vector<Nanoseconds> times;
};

/// "0–2, 5".
std::string ranges(const std::vector<const LayerView*>& layers) {
    std::string text;
    for (std::size_t i = 0; i < layers.size();) {
        std::size_t last = i;
        while (last + 1 < layers.size() && layers[last + 1]->number() == layers[last]->number() + 1) ++last;
        text += (text.empty() ? "" : ", ") + layer_text(layers[i]->number());
        if (last > i) text += (last == i + 1 ? ", " : "–") + layer_text(layers[last]->number());
        i = last + 1;
    }
    return render::fit(text, longest_range);
}

/// The time of a layer's outer blocks, of what is in none, and of what is on no node: together the layer's sum.
void add_parts(const LayerView& view, std::vector<LayerPart>& parts) {
    const render::FoldedLayer folded = render::fold_layer(view, render::Fold::none);
    const render::Outline outline = render::outline_layer(view, folded);
    const auto part = [&](const std::string& title) -> LayerPart& {
        const auto found = std::find_if(parts.begin(), parts.end(), [&](const LayerPart& p) { return p.title == title; });
        return found != parts.end() ? *found : parts.emplace_back(LayerPart{title, {}, 0, {}});
    };
    std::map<std::string, Nanoseconds> times;
    const bool first = parts.empty();
    const auto add = [&](const std::string& title, std::string_view fill, Nanoseconds time, std::size_t nodes) {
        LayerPart& into = part(title);
        into.fill = fill;
        if (first) into.nodes += nodes;
        times[title] += time;
    };
    for (const VertexId v : folded.nodes) {
        int block = outline.block(v);
        while (block >= 0 && outline.blocks[static_cast<std::size_t>(block)].parent >= 0)
            block = outline.blocks[static_cast<std::size_t>(block)].parent;
        if (block < 0) {
            add("Norms, residual stream, others", {}, view.time_of(v), 1);
        } else {
            const render::Block& found = outline.blocks[static_cast<std::size_t>(block)];
            add(found.title, render::block_colours(found.kind).outer, view.time_of(v), 1);
        }
    }
    if (view.times.unattributed > 0) add("On no node", render::colour::unattributed_fill, view.times.unattributed, 0);
    for (const auto& [title, time] : times) part(title).times.push_back(time);
}

class ModelPicture {
public:
    ModelPicture(const std::vector<LayerView>& layers, std::string_view pipeline, const std::vector<std::string>& files)
        : layers_(layers), pipeline_(pipeline), files_(files) {
        std::map<std::pair<TextId, std::uint32_t>, std::size_t> known;
        for (const LayerView& view : layers) {
            const auto [found, is_new] = known.try_emplace({view.layer->stack, view.layer->kind}, kinds_.size());
            if (is_new) kinds_.emplace_back();
            kinds_[found->second].layers.push_back(&view);
            kinds_[found->second].sum += view.times.sum;
            kind_of_.push_back(found->second);
            sum_ += view.times.sum;
        }
    }

    std::string text() const {
        std::string out = "digraph model {\n  graph [rankdir=TB, nodesep=0.4, ranksep=0.4, pad=0.3, bgcolor=\"" +
                          std::string{render::colour::background} +
                          "\", fontname=\"Helvetica,Arial,sans-serif\", tooltip=\" \"];\n"
                          "  node [shape=plain, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];\n"
                          "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, color=\"" +
                          std::string{render::colour::residual} + "\", penwidth=3, arrowsize=0.6];\n";
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            out += "  k" + std::to_string(i) + " [label=<" + table(kinds_[i]) + ">, tooltip=" + tooltip(kinds_[i]) + link(kinds_[i]) +
                   "];\n";
        }
        for (const auto& [ends, count] : transitions()) {
            out += "  k" + std::to_string(ends.first) + " -> k" + std::to_string(ends.second) + " [label=\"" +
                   (count > 1 ? " " + std::to_string(count) + " times" : "") + "\"];\n";
        }
        return out + "  label=<" + title() + ">; labelloc=t; labeljust=l;\n}\n";
    }

private:
    bool has_times() const { return layers_.front().has_trace(); }

    std::string link(const KindOfLayer& kind) const {
        const auto first = static_cast<std::size_t>(kind.layers.front() - layers_.data());
        return first < files_.size() ? link_attribute(files_[first]) : std::string{};
    }

    /// How often a layer of one kind follows one of another.
    std::map<std::pair<std::size_t, std::size_t>, int> transitions() const {
        std::map<std::pair<std::size_t, std::size_t>, int> found;
        std::map<TextId, std::size_t> last;  // by stack: index into layers_
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const auto before = last.find(layers_[i].layer->stack);
            if (before != last.end() && kind_of_[before->second] != kind_of_[i]) ++found[{kind_of_[before->second], kind_of_[i]}];
            last[layers_[i].layer->stack] = i;
        }
        return found;
    }

    std::string title() const {
        const LayerView& first = layers_.front();
        std::string text = font((pipeline_.empty() ? "" : render::visible_text(pipeline_) + " · ") +
                                    render::count_text(layers_.size(), "layer") + " of " + render::count_text(kinds_.size(), "kind"),
                                16, render::colour::text, true);
        if (has_times()) {
            std::string line = "sum of the layers " + render::duration_text(sum_);
            if (first.times.outside > 0) line += ", in no layer " + render::duration_text(first.times.outside);
            text += "<BR ALIGN=\"LEFT\"/>" + font(line + " · " + render::steps_line(first), 11, render::colour::text);
        }
        return text + "<BR ALIGN=\"LEFT\"/>" + font(render::source_line(first), 9, render::colour::quiet_text) + "<BR ALIGN=\"LEFT\"/>";
    }

    std::string table(const KindOfLayer& kind) const {
        const LayerView& first = *kind.layers.front();
        std::vector<LayerPart> parts;
        for (const LayerView* view : kind.layers) add_parts(*view, parts);
        std::string head = std::string{first.stack().empty() ? "" : render::visible_text(first.stack()) + " · "} +
                           (kind.layers.size() == 1 ? "layer " : "×" + std::to_string(kind.layers.size()) + "  layers ") +
                           ranges(kind.layers);
        const render::Shade shade = has_times() ? render::heat(kind.sum, sum_).shade : render::Shade{"#f2f2f2", render::colour::text};
        std::string rows = row(head, has_times() ? render::duration_text(kind.sum) + "  " + render::percent_text(kind.sum, sum_) : "",
                               shade.text, shade.fill, 12);
        for (LayerPart& part : parts) {
            part.times.resize(kind.layers.size());  // nothing in the layers that lack it
            const Nanoseconds time = render::spread_of(part.times).median;
            const std::string nodes = part.nodes == 0 ? "" : render::count_text(part.nodes, "node");
            rows += row(part.title, has_times() ? nodes + "   " + render::duration_text(time) : nodes, render::colour::text, part.fill, 10);
        }
        if (has_times()) rows += row(one_layer(kind), "", render::colour::quiet_text, "", 9);
        return R"(<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4" COLOR=")" + std::string{render::colour::node_border} +
               "\">" + rows + "</TABLE>";
    }

    static std::string row(std::string_view left, std::string_view right, std::string_view colour, std::string_view fill, int size) {
        const std::string background = fill.empty() ? "" : " BGCOLOR=\"" + std::string{fill} + "\"";
        // Graphviz takes no empty text.
        return "<TR><TD ALIGN=\"LEFT\"" + background + ">" + font(left, size, colour, size > 10) + "</TD><TD ALIGN=\"RIGHT\"" + background +
               ">" + (right.empty() ? std::string{} : font(right, size, colour)) + "</TD></TR>";
    }

    /// "one layer: median 197 µs, 193 µs (layer 12) to 203 µs (layer 50)": which is the odd one.
    static std::string one_layer(const KindOfLayer& kind) {
        std::vector<Nanoseconds> sums;
        for (const LayerView* view : kind.layers) sums.push_back(view->times.sum);
        if (sums.size() == 1) return "its only layer: wall " + render::duration_text(kind.layers.front()->times.wall.median);
        const auto shortest = std::min_element(sums.begin(), sums.end());
        const auto longest = std::max_element(sums.begin(), sums.end());
        const auto text = [&](std::vector<Nanoseconds>::iterator at) {
            return render::duration_text(*at) + " (layer " +
                   layer_text(kind.layers[static_cast<std::size_t>(at - sums.begin())]->number()) + ")";
        };
        return "one layer: median " + render::duration_text(render::spread_of(sums).median) + ", " + text(shortest) + " to " +
               text(longest);
    }

    /// Every layer of the kind.
    std::string tooltip(const KindOfLayer& kind) const {
        std::string text;
        for (const LayerView* view : kind.layers) {
            text += (text.empty() ? "" : "\\n") + ("layer " + layer_text(view->number())) +
                    (has_times() ? ": " + render::duration_text(view->times.sum) : "");
        }
        return "\"" + text + "\"";
    }

    const std::vector<LayerView>& layers_;
    std::string_view pipeline_;
    const std::vector<std::string>& files_;
    std::vector<KindOfLayer> kinds_;
    std::vector<std::size_t> kind_of_;  ///< by layer
    Nanoseconds sum_ = 0;
};

}  // namespace

std::string model_dot(const std::vector<LayerView>& layers, std::string_view pipeline, const std::vector<std::string>& files) {
    return ModelPicture(layers, pipeline, files).text();
}

}  // namespace adpipe::render_dot
