#include "layer_walk.hpp"

#include "kernel_facts.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/render/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace adpipe::walkthrough {

namespace {

using render::count_text;
using render::duration_text;

std::string title_of(const WalkInput& input, const render::LayerProfile& profile) {
    std::vector<std::int64_t> numbers;
    for (const std::uint32_t l : profile.layers) numbers.push_back(input.layers.layers[l].number);
    std::string title = fmt::format("{} {} in {}", numbers.size() == 1 ? "Layer" : "Layers", render::number_ranges(std::move(numbers)),
                                    profile.phase == Phase::unknown ? "steps of unknown phase" : phase_text(profile.phase));
    if (profile.batch_size >= 0) title += fmt::format(", batch size {}", profile.batch_size);
    return title;
}

std::string trace_line(const Trace& trace) { return trace.file.filename().string() + (trace.simulated ? ", which is simulated." : "."); }

/// "2 norm, 4 gemm"
std::string counts_by_category(const std::vector<KernelFacts>& kernels) {
    std::map<KernelCategory, std::size_t> counts;
    std::vector<KernelCategory> order;
    for (const KernelFacts& kernel : kernels) {
        if (kernel.row.regular && counts[kernel.category]++ == 0) order.push_back(kernel.category);
    }
    std::string text;
    for (const KernelCategory category : order)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[category], category_text(category));
    return text;
}

std::string streams_text(const std::vector<KernelFacts>& kernels) {
    std::vector<std::int64_t> streams;
    for (const KernelFacts& kernel : kernels) {
        if (std::find(streams.begin(), streams.end(), kernel.stream) == streams.end()) streams.push_back(kernel.stream);
    }
    if (streams.size() == 1 && streams.front() < 0) return "on a stream that the trace does not name";
    std::string text = streams.size() == 1 ? "on stream " : "on streams ";
    for (std::size_t i = 0; i < streams.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(streams[i]);
    return text;
}

void add_overview(Document& document, const render::LayerProfile& profile, const std::vector<KernelFacts>& kernels) {
    const auto regular = static_cast<std::uint64_t>(
        std::count_if(kernels.begin(), kernels.end(), [](const KernelFacts& k) { return k.row.regular; }));
    std::string text = fmt::format("Such a layer runs {} {}: {}.", count_text(regular, "kernel"), streams_text(kernels),
                                   counts_by_category(kernels));
    if (regular < kernels.size()) text += fmt::format(" {} more run only in some of these layers.", kernels.size() - regular);
    document.paragraph(text);
    text = fmt::format(
        "The kernels of one layer add up to {} (median of {}: {} in {}); from start to end, with overlaps counted "
        "once, it is busy for {}.",
        duration_text(profile.layer_sum.median), count_text(profile.executions, "execution"), count_text(profile.layers.size(), "layer"),
        count_text(profile.steps, "step"), duration_text(profile.layer_wall.median));
    document.paragraph(text);
    std::vector<const KernelFacts*> most;
    for (const KernelFacts& kernel : kernels) most.push_back(&kernel);
    std::stable_sort(most.begin(), most.end(), [](const auto* a, const auto* b) { return a->row.time.total > b->row.time.total; });
    text = "Most time:";
    for (std::size_t i = 0; i < std::min<std::size_t>(3, most.size()); ++i) {
        text += fmt::format("{} {} at position {} ({})", i == 0 ? "" : ",", most[i]->name.short_name, most[i]->row.position,
                            render::percent_text(most[i]->row.time.total, profile.total));
    }
    document.paragraph(text + ".");
}

/// One lane a stream: where in the order its kernels stand.
class Lanes {
public:
    explicit Lanes(const std::vector<KernelFacts>& kernels) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const auto [lane, is_new] = lanes_.try_emplace(kernels[i].stream, Lane{order_.size(), i, i});
            if (is_new) order_.push_back(kernels[i].stream);
            lane->second.last = i;
        }
    }
    std::string head() const {
        std::string text;
        for (const std::int64_t stream : order_) text += render::pad_right(stream < 0 ? "-" : "s" + std::to_string(stream), width);
        return text;
    }
    std::string at(std::size_t kernel, std::int64_t stream) const {
        std::string text;
        for (const std::int64_t other : order_) {
            const Lane& lane = lanes_.at(other);
            text += render::pad_right(other == stream ? "●" : lane.first < kernel && kernel < lane.last ? "│" : " ", width);
        }
        return text;
    }

private:
    static constexpr int width = 5;
    struct Lane {
        std::size_t number, first, last;
    };
    std::map<std::int64_t, Lane> lanes_;
    std::vector<std::int64_t> order_;
};

std::string bar_of(Nanoseconds part, Nanoseconds whole) {
    constexpr int columns = 10;
    return render::pad_right(render::bar_text(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0, columns), columns);
}

std::vector<std::string> flow_lines(const render::LayerProfile& profile, const std::vector<KernelFacts>& kernels) {
    const Lanes lanes{kernels};
    int name_width = 6;
    for (const KernelFacts& kernel : kernels)
        name_width = std::max(name_width, std::min(34, render::display_width(kernel.name.short_name)));
    std::vector<std::string> lines{lanes.head() + "pos  " + render::pad_right("what", 13) + " " + render::pad_right("kernel", name_width) +
                                   "         µs  share      operator"};
    bool any_overlap = false;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const KernelFacts& kernel = kernels[i];
        const bool overlaps = i > 0 && kernel.row.regular && kernels[i - 1].row.regular && kernel.start < kernels[i - 1].end &&
                              kernel.start >= kernels[i - 1].start;
        any_overlap = any_overlap || overlaps;
        std::string line = lanes.at(i, kernel.stream) + render::pad_left(std::to_string(kernel.row.position), 3) + "  ";
        line += render::pad_right(category_text(kernel.category), 13) + " " +
                render::pad_right(render::fit_middle(kernel.name.short_name, name_width), name_width);
        line += (overlaps ? " ~" : "  ") + render::pad_left(render::microseconds_text(kernel.row.time.median), 9) + "  " +
                bar_of(kernel.row.time.total, profile.total);
        if (!kernel.row.regular) line += fmt::format(" in {} of {}", kernel.row.time.count, kernel.executions);
        else if (!kernel.site.op.empty()) line += " " + kernel.site.op + " " + operands_text(kernel.site);
        lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    if (any_overlap) lines.emplace_back("~ starts before the one above has ended");
    return lines;
}

void add_unknown(Document& document, const std::vector<KernelFacts>& kernels) {
    std::map<std::string, std::size_t> counts;
    std::vector<std::string> order;
    for (const KernelFacts& kernel : kernels) {
        for (const std::string& what : not_known(kernel)) {
            if (counts[what]++ == 0) order.push_back(what);
        }
    }
    std::vector<std::string> items;
    for (const std::string& what : order)
        items.push_back(fmt::format("{}: of {} of {}", what, counts[what], count_text(kernels.size(), "kernel")));
    items.emplace_back(
        "bytes moved, cache hits, stalls, achieved occupancy: counters, which Nsight Compute or rocprof-compute "
        "measure");
    items.emplace_back("what happens inside of a kernel: its source, if there is one");
    document.heading(2, "What the trace does not hold");
    document.list(std::move(items));
}

void add_kernel(Document& document, const KernelFacts& kernel, int level) {
    document.heading(level, fmt::format("{}: {}", kernel.row.position, kernel.name.short_name));
    document.paragraph(sentences(kernel));
    document.facts(fact_table(kernel));
}

bool is_named(const KernelFacts& kernel, const std::string& wanted) {
    std::uint32_t position = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
    if (error == std::errc{} && end == wanted.data() + wanted.size()) return kernel.row.position == position;
    return kernel.full_name.find(wanted) != std::string::npos || kernel.name.short_name.find(wanted) != std::string::npos;
}

}  // namespace

Document walk_layer(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites) {
    const std::vector<KernelFacts> kernels = kernel_facts(input, profile, sites);
    Document document;
    document.heading(1, title_of(input, profile));
    document.paragraph("From " + trace_line(*input.attribution.window->trace));
    add_overview(document, profile, kernels);
    document.heading(2, "Flow");
    document.figure(flow_lines(profile, kernels));
    document.heading(2, "Kernel by kernel");
    for (const KernelFacts& kernel : kernels) add_kernel(document, kernel, 3);
    add_unknown(document, kernels);
    return document;
}

Document walk_kernels(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites, const std::string& wanted) {
    const std::vector<KernelFacts> kernels = kernel_facts(input, profile, sites);
    Document document;
    document.heading(1, fmt::format("{}: kernel {}", title_of(input, profile), wanted));
    document.paragraph("From " + trace_line(*input.attribution.window->trace));
    std::vector<KernelFacts> named;
    for (const KernelFacts& kernel : kernels) {
        if (is_named(kernel, wanted)) named.push_back(kernel);
    }
    if (named.empty()) {
        throw Error("ADP-RND-024", fmt::format("no kernel of the layer has '{}' in its name, or as its position", wanted),
                    "`adpipe layers TRACE` lists them");
    }
    for (const KernelFacts& kernel : named) add_kernel(document, kernel, 2);
    add_unknown(document, named);
    return document;
}

}  // namespace adpipe::walkthrough
