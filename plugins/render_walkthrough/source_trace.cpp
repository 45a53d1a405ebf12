#include "source_trace.hpp"

#include "../shared/table_text.hpp"
#include "kernel_facts.hpp"

#include <adpipe/render/number.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace adpipe::walkthrough {

namespace {

/// A step that stands for all of its phase and batch size.
struct Path {
    const Step* step = nullptr;
    std::uint32_t steps = 0;
    std::uint32_t with_stack = 0;  ///< kernels of the step
    std::uint32_t of_companion = 0;
    std::string companion;  ///< name of the recording that these are known from
    TreeNode tree;
};

std::string title_of(const Step& step) {
    std::string title{step.phase == Phase::unknown ? "steps of unknown phase" : phase_text(step.phase)};
    if (step.batch_size >= 0) title += fmt::format(", batch size {}", step.batch_size);
    return title;
}

/// The longest step of each phase and batch size.
std::vector<Path> paths_of(const Window& window, const LaunchSites& sites) {
    std::map<std::tuple<Phase, std::int64_t, bool>, Path> found;
    for (const Step& step : window.steps) {
        if (!step.chosen || step.kernels.empty()) continue;
        Path& path = found[{step.phase, step.batch_size, step.replay}];
        ++path.steps;
        if (path.step == nullptr || step.kernels.size() > path.step->kernels.size()) path.step = &step;
    }
    std::vector<Path> paths;
    for (auto& [key, path] : found) {
        for (const std::uint32_t k : path.step->kernels) {
            const LaunchSite site = sites.of(k);
            path.with_stack += !site.frames.empty();
            path.of_companion += !site.companion.empty();
            if (!site.companion.empty()) path.companion = site.companion;
        }
        path.tree = call_tree(*window.trace, path.step->kernels, sites);
        paths.push_back(std::move(path));
    }
    return paths;
}

class SourceTraceWriter {
public:
    SourceTraceWriter(const Window& window, const KernelNames& names, const LaunchSites& sites)
        : window_{window}, trace_{*window.trace}, names_{names}, sites_{sites} {}

    Document write(const std::vector<Path>& paths) {
        document_.heading(1, "From source lines to kernels: " + trace_.file.filename().string());
        document_.paragraph(fmt::format("{}{}.", window_.description, trace_.simulated ? ". The trace is simulated" : ""));
        document_.heading(2, "Overview");
        for (const Path& path : paths) document_.paragraph(overview(path));
        for (const Path& path : paths) {
            document_.heading(2, "Path: " + title_of(*path.step));
            std::vector<Document::Item> items;
            add_items(path.tree, 0, items);
            document_.tree(std::move(items));
        }
        document_.heading(2, "Kernels");
        for (const Path& path : paths) add_kernels(path.tree);
        document_.heading(2, "End to end");
        for (const Path& path : paths) {
            std::vector<std::string> lines{title_of(*path.step)};
            draw(path.tree, "", path.tree.total, lines);
            document_.figure(std::move(lines));
        }
        return std::move(document_);
    }

private:
    std::string short_name(StringId name) const { return names_.decode(trace_.string(name)).short_name; }

    std::string overview(const Path& path) const {
        const Step& step = *path.step;
        std::string text = fmt::format("{}: {}; shown is step {} with {} in {}", title_of(step),
                                       path.steps == 1 ? "one step" : fmt::format("{} steps", path.steps), step.number,
                                       render::count_text(step.kernels.size(), "kernel"), render::duration_text(path.tree.total));
        if (path.of_companion > 0) {
            text += fmt::format(
                ". {} of them stand in the place of one that {} saw put into a graph, or launched: the lines below are "
                "those",
                path.of_companion, path.companion);
        } else if (step.replay)
            text +=
                ". They are launched as one captured graph: the lines below lead to that launch; those that each "
                "kernel comes from "
                "were passed when the graph was captured, which this recording of a step does not hold";
        else text += fmt::format(", {} of them with a call stack", path.with_stack);
        return text + ".";
    }

    /// Frames that only call one other are kept: they are the path.
    void add_items(const TreeNode& node, int depth, std::vector<Document::Item>& items) const {
        for (const auto& child : node.children) {
            const Frame frame = frame_of(child->text);
            Document::Item item;
            item.depth = depth;
            item.text = child->is_operator ? child->text + " (operator)" : frame.line > 0 ? frame.function : node_title(*child);
            if (frame.line > 0 && !child->is_operator) item.target = fmt::format("{}:{}", frame.file, frame.line);
            item.behind = fmt::format(" – {}, {}", render::count_text(child->kernels, "kernel"), render::duration_text(child->total));
            items.push_back(std::move(item));
            add_items(*child, depth + 1, items);
        }
        for (const TreeKernel& kernel : node.launched) {
            items.push_back(
                {depth, fmt::format("kernel {}{}", short_name(kernel.name), kernel.count > 1 ? fmt::format(" × {}", kernel.count) : ""), "",
                 " – " + render::duration_text(kernel.total)});
        }
    }

    /// Each kernel once, where it comes first.
    void add_kernels(const TreeNode& node) {
        for (const auto& child : node.children) add_kernels(*child);
        for (const TreeKernel& kernel : node.launched) {
            if (!shown_.emplace(kernel.name, true).second) continue;
            const KernelName name = names_.decode(trace_.string(kernel.name));
            document_.heading(3, name.short_name);
            document_.facts(facts_of(kernel, name));
        }
    }

    std::vector<Document::Fact> facts_of(const TreeKernel& kernel, const KernelName& name) const {
        const LaunchSite site = sites_.of(kernel.example);
        std::vector<Document::Fact> facts{{"kernel", std::string{tables::without_void(name.demangled)}},
                                          {"does", std::string{category_text(name.category)}},
                                          {"library", name.library.empty() ? "not known" : name.library}};
        for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
            if (frame_of(*frame).line == 0) continue;
            facts.emplace_back("launched from", *frame);
            break;
        }
        if (!site.op.empty()) facts.emplace_back("operator", site.op);
        if (!site.operands.empty()) facts.emplace_back("operands", operands_text(site));
        for (const KernelParameter& parameter : name.parameters) facts.emplace_back(parameter.name, parameter.value);
        const std::uint32_t shape = trace_.kernels.shape.empty() ? 0 : trace_.kernels.shape[kernel.example];
        const LaunchShape& launch = trace_.shapes[shape];
        if (launch.grid[0] >= 0) facts.emplace_back("grid", fmt::format("{} × {} × {}", launch.grid[0], launch.grid[1], launch.grid[2]));
        if (launch.block[0] >= 0)
            facts.emplace_back("block", fmt::format("{} × {} × {}", launch.block[0], launch.block[1], launch.block[2]));
        if (launch.registers >= 0) facts.emplace_back("registers", std::to_string(launch.registers));
        if (launch.shared_memory >= 0) facts.emplace_back("shared memory", fmt::format("{} bytes", launch.shared_memory));
        return facts;
    }

    void draw(const TreeNode& node, const std::string& indent, Nanoseconds whole, std::vector<std::string>& lines) const {
        const std::size_t count = node.children.size() + node.launched.size();
        std::size_t i = 0;
        const auto branch = [&] { return indent + (++i == count ? "└─ " : "├─ "); };
        for (const auto& child : node.children) {
            const std::string begin = branch();
            lines.push_back(fmt::format("{}{}  {}", begin, node_title(*child), render::percent_text(child->total, whole)));
            draw(*child, indent + (i == count ? "   " : "│  "), whole, lines);
        }
        for (const TreeKernel& kernel : node.launched) {
            const std::string begin = branch();
            lines.push_back(fmt::format("{}▶ {}{}  {}", begin, short_name(kernel.name),
                                        kernel.count > 1 ? fmt::format(" × {}", kernel.count) : "",
                                        render::percent_text(kernel.total, whole)));
        }
    }

    const Window& window_;
    const Trace& trace_;
    const KernelNames& names_;
    const LaunchSites& sites_;
    Document document_;
    std::map<StringId, bool> shown_;
};

}  // namespace

Document source_trace(const Window& window, const KernelNames& names, const LaunchSites& sites) {
    const std::vector<Path> paths = paths_of(window, sites);
    const bool any = std::any_of(paths.begin(), paths.end(), [](const Path& path) { return path.with_stack > 0; });
    if (!any) {
        throw Error("ADP-RND-025", "no kernel of the chosen steps has a call stack, so nothing leads to source lines",
                    "record with torch.profiler.profile(with_stack=True, record_shapes=True); in a pipeline, trace.kineto "
                    "needs `python: all` and `details: true`");
    }
    return SourceTraceWriter(window, names, sites).write(paths);
}

}  // namespace adpipe::walkthrough
