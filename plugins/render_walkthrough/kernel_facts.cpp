#include "kernel_facts.hpp"

#include "../shared/table_text.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/render/op_facts.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::walkthrough {

namespace {

const Device* device_of(const Trace& trace, std::uint32_t kernel) {
    if (trace.kernels.device.empty()) return nullptr;
    const auto found = std::find_if(trace.devices.begin(), trace.devices.end(),
                                    [&](const Device& device) { return device.id == trace.kernels.device[kernel]; });
    return found == trace.devices.end() ? nullptr : &*found;
}

std::string dimensions(const std::array<std::int32_t, 3>& size) { return fmt::format("{} × {} × {}", size[0], size[1], size[2]); }

std::string time_text(const render::Spread& time) {
    const auto text = [](Nanoseconds value) { return render::duration_text(value); };
    if (time.count == 1) return text(time.median) + ", in one execution";
    return fmt::format("median {} ({} to {} in {} executions)", text(time.median), text(time.minimum), text(time.maximum), time.count);
}

/// "1 at a time: 12 of 64 warps (19 %), limited by registers"
std::string occupancy_text(const Occupancy& occupancy) {
    if (occupancy.blocks < 0) return {};
    std::string text = fmt::format("{} at a time: {} of {} {} ({:.0f} %), limited by {}",
                                   render::count_text(static_cast<std::uint64_t>(occupancy.blocks), "block"), occupancy.warps,
                                   occupancy.most_warps, occupancy.waves ? "wavefronts" : "warps", occupancy.percent(),
                                   occupancy.limited_by);
    const char* separator = "; it may be less, since the trace does not hold: ";
    for (const std::string& missing : occupancy.not_known) {
        text += separator + missing;
        separator = ", ";
    }
    return text;
}

/// How often the grid fills the device.
std::string waves_text(const KernelFacts& kernel) {
    const std::int64_t blocks = grid_blocks(kernel.shape);
    if (blocks <= 0 || kernel.device == nullptr || kernel.device->multiprocessors <= 0) return {};
    const std::int64_t multiprocessors = kernel.device->multiprocessors;
    if (blocks <= multiprocessors) return fmt::format("at most {} of {} multiprocessors get a block", blocks, multiprocessors);
    if (kernel.occupancy.blocks <= 0)
        return fmt::format("{:.1f} blocks for each of {} multiprocessors",
                           static_cast<double>(blocks) / static_cast<double>(multiprocessors), multiprocessors);
    const double waves = static_cast<double>(blocks) / static_cast<double>(multiprocessors * kernel.occupancy.blocks);
    return fmt::format("{:.1f} waves over {} multiprocessors", waves, multiprocessors);
}

std::string rate_text(double per_second, const char* unit) {
    static constexpr std::array<std::pair<double, const char*>, 3> prefixes{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}}};
    for (const auto& [size, prefix] : prefixes) {
        if (per_second >= size) return fmt::format("{} {}{}", render::three_digits(per_second / size), prefix, unit);
    }
    return fmt::format("{} {}", render::three_digits(per_second), unit);
}

/// The innermost frame that names a file, and the innermost module.
std::string place_text(const LaunchSite& site) {
    std::string text;
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend() && text.empty(); ++frame) {
        if (frame_of(*frame).line > 0) text = *frame;
    }
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
        if (frame->rfind("nn.Module: ", 0) != 0) continue;
        return text.empty() ? *frame : text + ", in " + *frame;
    }
    return text;
}

/// "a norm kernel of FlashInfer"
std::string kind_text(const KernelFacts& kernel) {
    const std::string library = kernel.name.library.empty() ? "an unknown library" : kernel.name.library;
    if (kernel.category == KernelCategory::other) return "a kernel of " + library;
    const std::string category{category_text(kernel.category)};
    const bool vowel = std::string_view{"aeiou"}.find(category.front()) != std::string_view::npos;
    return fmt::format("{} {} kernel of {}", vowel ? "an" : "a", category, library);
}

std::string parameters_text(const KernelName& name) {
    std::string text;
    for (const KernelParameter& parameter : name.parameters) text += (text.empty() ? "" : ", ") + parameter.name + " " + parameter.value;
    return text;
}

void add_launch_facts(std::vector<Document::Fact>& facts, const KernelFacts& kernel) {
    const LaunchShape& shape = kernel.shape;
    if (grid_blocks(shape) >= 0) facts.emplace_back("grid", dimensions(shape.grid) + " blocks");
    if (block_threads(shape) >= 0) facts.emplace_back("block", dimensions(shape.block) + " threads");
    if (kernel.row.shapes.size() > 1)
        facts.emplace_back("", fmt::format("the commonest of {} ways in which it was launched", kernel.row.shapes.size()));
    if (shape.registers >= 0) facts.emplace_back("registers", fmt::format("{} a thread", shape.registers));
    if (shape.shared_memory >= 0)
        facts.emplace_back("shared memory",
                           fmt::format("{} bytes a block", render::count_text(static_cast<std::uint64_t>(shape.shared_memory))));
    if (const std::string text = occupancy_text(kernel.occupancy); !text.empty()) {
        facts.emplace_back("one multiprocessor holds", text + ". Computed from the launch and the device's limits, not measured");
    }
    if (const std::string text = waves_text(kernel); !text.empty()) facts.emplace_back("the grid", text);
}

/// The innermost frames of a stack that are shown; `adpipe sources` shows all.
constexpr std::size_t most_frames = 8;

void add_site_facts(std::vector<Document::Fact>& facts, const KernelFacts& kernel) {
    const LaunchSite& site = kernel.site;
    if (!site.op.empty()) facts.emplace_back("operator", site.op);
    if (!site.companion.empty()) facts.emplace_back("known from", site.companion + ": the kernel that stands in its place there");
    if (!site.operands.empty()) facts.emplace_back("operands", operands_text(site));
    if (const MatrixProduct product = matrix_product(site); product.operations > 0) {
        const double seconds = static_cast<double>(kernel.row.time.median) / 1e9;
        facts.emplace_back("matrix product", fmt::format("{}: {} at the median", product.sizes,
                                                         rate_text(seconds > 0 ? product.operations / seconds : 0, "FLOP/s")));
        if (product.operand_bytes > 0 && seconds > 0)
            facts.emplace_back("operands read once", rate_text(product.operand_bytes / seconds, "B/s") + " would be needed");
    }
    if (!site.call.empty()) facts.emplace_back("launched by", site.call + (site.replayed ? ", with the whole graph" : ""));
    for (std::size_t i = 0; i < site.ranges.size(); ++i) facts.emplace_back(i == 0 ? "in ranges" : "", site.ranges[i]);
    const std::size_t hidden = site.frames.size() > most_frames ? site.frames.size() - most_frames : 0;
    if (hidden > 0) facts.emplace_back("called from", render::count_text(hidden, "frame") + ", and within");
    for (std::size_t i = hidden; i < site.frames.size(); ++i) facts.emplace_back(i == 0 ? "called from" : "", site.frames[i]);
}

/// Nodes of a dump. A graph that was made from the trace itself has one for every kernel, which tells nothing.
std::vector<std::string> nodes_of(const WalkInput& input, std::uint32_t kernel) {
    std::vector<std::string> nodes;
    for (const VertexId v : input.attribution.nodes(kernel)) {
        const Vertex& vertex = input.graph.vertex(v);
        if (vertex.target.substr(0, 7) == "kernel.") continue;
        std::string text = fmt::format("{}: {}", vertex.name, vertex.op);
        if (!vertex.shape.empty()) text += fmt::format(" → {} {}", vertex.shape, render::short_dtype(vertex.dtype));
        nodes.push_back(fmt::format("{} (by {})", text, evidence_text(input.attribution.evidence[kernel])));
    }
    return nodes;
}

/// Of the first execution that the recording knows most of: a profiler that was started late lacks the host's side of
/// the first ones.
LaunchSite best_site(const render::ProfileRow& row, const LaunchSites& sites) {
    constexpr std::size_t most_tried = 256;
    const auto known = [](const LaunchSite& site) {
        return (site.op.empty() ? 0 : 4) + (site.operands.empty() ? 0 : 1) + (site.frames.empty() ? 0 : 2);
    };
    LaunchSite best = sites.of(row.example);
    for (std::size_t i = 0; i < std::min(row.kernels.size(), most_tried) && known(best) < 7; ++i) {
        LaunchSite site = sites.of(row.kernels[i]);
        if (known(site) > known(best)) best = std::move(site);
    }
    return best;
}

}  // namespace

std::string operands_text(const LaunchSite& site) {
    std::string text;
    for (const Operand& operand : site.operands) text += (text.empty() ? "" : ", ") + operand.text;
    return text;
}

MatrixProduct matrix_product(const LaunchSite& site) {
    const std::size_t first = site.op == "aten::addmm" || site.op == "aten::baddbmm" ? 1 : 0;
    const bool batched = site.op == "aten::bmm" || site.op == "aten::baddbmm";
    const bool plain = site.op == "aten::mm" || site.op == "aten::addmm";
    MatrixProduct product;
    if ((!batched && !plain) || site.operands.size() < first + 2) return product;
    const Operand& a = site.operands[first];
    const Operand& b = site.operands[first + 1];
    const std::size_t rank = batched ? 3 : 2;
    if (a.shape.size() != rank || b.shape.size() != rank || a.shape[rank - 1] != b.shape[rank - 2]) return product;
    const std::int64_t batch = batched ? a.shape[0] : 1;
    const std::int64_t m = a.shape[rank - 2];
    const std::int64_t k = a.shape[rank - 1];
    const std::int64_t n = b.shape[rank - 1];
    product.operations = 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    product.sizes = fmt::format("{}m {}, n {}, k {}", batched ? fmt::format("{} times ", batch) : "", m, n, k);
    if (a.bytes > 0 && b.bytes > 0) {
        product.operand_bytes = static_cast<double>(batch) * (static_cast<double>(m) * static_cast<double>(k) * a.bytes +
                                                              static_cast<double>(k) * static_cast<double>(n) * b.bytes);
    }
    return product;
}

std::vector<KernelFacts> kernel_facts(const WalkInput& input, const render::LayerProfile& profile, const LaunchSites& sites) {
    const Trace& trace = *input.attribution.window->trace;
    std::vector<KernelFacts> all;
    for (const render::ProfileRow& row : profile.rows) {
        KernelFacts kernel;
        kernel.row = row;
        kernel.name = input.names.decode(trace.string(row.name));
        kernel.full_name = tables::without_void(kernel.name.demangled);
        kernel.category = tables::category_of(kernel.name, row.kind);
        if (!trace.kernels.stream.empty()) kernel.stream = trace.kernels.stream[row.example];
        kernel.start = trace.kernels.start[row.example];
        kernel.end = trace.kernels.end[row.example];
        if (!row.shapes.empty()) kernel.shape = trace.shapes[row.shapes.front()];
        kernel.device = device_of(trace, row.example);
        if (kernel.device != nullptr) kernel.occupancy = occupancy_of(kernel.shape, *kernel.device);
        kernel.site = best_site(row, sites);
        kernel.nodes = nodes_of(input, row.example);
        kernel.layer_total = profile.total;
        kernel.executions = profile.executions;
        all.push_back(std::move(kernel));
    }
    return all;
}

std::string sentences(const KernelFacts& kernel) {
    std::string text = kernel.name.short_name + " is " + kind_text(kernel);
    text += kernel.row.regular ? "." : fmt::format(", in {} of {} executions of the layer.", kernel.row.time.count, kernel.executions);
    const LaunchSite& site = kernel.site;
    if (!site.op.empty()) {
        text += fmt::format(" {} launches it", site.op);
        if (!site.operands.empty()) text += " with " + operands_text(site);
        text += '.';
    }
    if (const std::string place = place_text(site); !place.empty())
        text += fmt::format(" {} {}.",
                            !site.companion.empty() ? "Put into the graph from"
                            : site.replayed         ? "The graph that it is part of is launched from"
                                                    : "Called from",
                            place);
    const std::int64_t blocks = grid_blocks(kernel.shape);
    const std::int64_t threads = block_threads(kernel.shape);
    if (blocks > 0 && threads > 0) {
        const std::string waves = waves_text(kernel);
        text += fmt::format(" {} of {}{}{}.", render::count_text(static_cast<std::uint64_t>(blocks), "block"),
                            render::count_text(static_cast<std::uint64_t>(threads), "thread"), waves.empty() ? "" : ": ", waves);
    }
    return text + fmt::format(" It takes {}, {} of the layer.", render::duration_text(kernel.row.time.median),
                              render::percent_text(kernel.row.time.total, kernel.layer_total));
}

std::vector<Document::Fact> fact_table(const KernelFacts& kernel) {
    std::vector<Document::Fact> facts{{"kernel", kernel.full_name},
                                      {"does", std::string{category_text(kernel.category)}},
                                      {"library", kernel.name.library.empty() ? "not known" : kernel.name.library}};
    if (const std::string text = parameters_text(kernel.name); !text.empty()) facts.emplace_back("in its name", text);
    if (kernel.stream >= 0) facts.emplace_back("stream", std::to_string(kernel.stream));
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) facts.emplace_back(i == 0 ? "graph node" : "", kernel.nodes[i]);
    add_site_facts(facts, kernel);
    add_launch_facts(facts, kernel);
    facts.emplace_back("time", time_text(kernel.row.time));
    facts.emplace_back("share of the layer", render::percent_text(kernel.row.time.total, kernel.layer_total));
    std::string missing;
    for (const std::string& what : not_known(kernel)) missing += (missing.empty() ? "" : "; ") + what;
    if (!missing.empty()) facts.emplace_back("not in the trace", missing);
    return facts;
}

std::vector<std::string> not_known(const KernelFacts& kernel) {
    std::vector<std::string> missing;
    const LaunchSite& site = kernel.site;
    if (site.op.empty())
        missing.emplace_back(site.replayed ? "the operator behind it, which was known when the graph was captured"
                                           : "the operator that launched it");
    if (site.operands.empty()) missing.emplace_back("shapes of its operands");
    if (site.frames.empty()) missing.emplace_back("the call stack");
    if (kernel.category == KernelCategory::other) missing.emplace_back("what it does: no rule knows its name");
    if (grid_blocks(kernel.shape) < 0) missing.emplace_back("grid and block");
    if (kernel.shape.registers < 0) missing.emplace_back("registers");
    if (kernel.shape.shared_memory < 0) missing.emplace_back("shared memory");
    if (kernel.device == nullptr) missing.emplace_back("limits of its device");
    if (kernel.occupancy.blocks < 0) missing.emplace_back("occupancy, which needs these");
    return missing;
}

}  // namespace adpipe::walkthrough
