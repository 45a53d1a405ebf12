#include "cli/trace_findings.hpp"

#include <adpipe/model/step_times.hpp>
#include <adpipe/model/trace_index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace adpipe::cli {
namespace {

std::string number_of(std::size_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

/// "a of b (x %)"
std::string share(std::size_t part, std::size_t whole) {
    return fmt::format("{} of {} ({} %)", part, whole, whole == 0 ? 0 : part * 100 / whole);
}

class Examination {
public:
    explicit Examination(const Window& window) : window_(window), trace_(*window.trace) {}

    TraceFindings run() {
        look_at_steps();
        look_at_graphs();
        look_at_lineage();
        look_at_ranges();
        look_at_launches();
        look_at_annotations();
        look_at_operators();
        look_at_ending();
        look_at_messages();
        found_.evidence = evidence();
        found_.commands = commands();
        return std::move(found_);
    }

private:
    void say(bool good, const char* topic, std::string text) { found_.list.push_back({good, topic, std::move(text)}); }
    bool is_nsys() const { return trace_.format.rfind("nsys", 0) == 0; }
    bool is_kineto() const { return trace_.format.rfind("kineto", 0) == 0; }

    void look_at_steps() {
        std::array<std::size_t, 3> of_kind{};
        for (const KernelKind kind : trace_.kernels.kind) ++of_kind[static_cast<std::size_t>(kind)];
        say(of_kind[0] > 0, "kernels",
            fmt::format("{}, {}, {}, in {} on {}", number_of(of_kind[0], "kernel"), fmt::format("{} memcpy", of_kind[1]),
                        fmt::format("{} memset", of_kind[2]),
                        fmt::format("{} process{}", trace_.processes.size(), trace_.processes.size() == 1 ? "" : "es"),
                        number_of(devices(), "device")));
        std::size_t replays = 0, whole = 0;
        for (const Step& step : window_.steps) {
            replays += step.replay ? 1 : 0;
            whole += step.complete ? 1 : 0;
        }
        has_steps_ = whole > 0;
        say(has_steps_, "steps",
            window_.steps.empty() ? "no forward pass was found"
                                  : fmt::format("{}, {} of them whole: {}, {}", number_of(window_.steps.size(), "step"), whole,
                                                number_of(replays, "replay"), fmt::format("{} eager", window_.steps.size() - replays)));
    }

    std::size_t devices() const {
        std::vector<std::int32_t> ids = trace_.kernels.device;
        std::sort(ids.begin(), ids.end());
        return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
    }

    void look_at_graphs() {
        std::size_t in_graph = 0;
        for (const std::uint64_t node : trace_.kernels.graph_node) in_graph += node != no_id ? 1 : 0;
        has_nodes_ = in_graph > 0;
        whole_graphs_ = trace_.graph_runs.size() > 0;
        if (whole_graphs_) {
            say(false, "graph nodes",
                fmt::format("recorded in graph mode: {} of a graph without its kernels", number_of(trace_.graph_runs.size(), "run")));
        } else if (has_nodes_) {
            say(true, "graph nodes",
                "recorded in node mode: " + share(in_graph, trace_.kernels.size()) + " GPU events name their graph node");
        } else {
            say(!has_replays(), "graph nodes", has_replays() ? "kernels do not name their graph node" : "no graph was replayed");
        }
    }

    bool has_replays() const {
        return std::any_of(window_.steps.begin(), window_.steps.end(), [](const Step& step) { return step.replay; });
    }

    void look_at_lineage() {
        if (!has_nodes_) return;
        std::size_t nodes = 0, known = 0, named = 0;
        const RangeIndex ranges(trace_.annotations);
        for (const CapturedGraph& graph : window_.graphs) {
            nodes += graph.nodes.size();
            for (std::size_t i = 0; i < graph.made.size(); ++i) {
                if (graph.made[i] < 0) continue;
                ++known;
                named += ranges.innermost(graph.made_by[i], graph.made[i]) != RangeIndex::none ? 1 : 0;
            }
        }
        has_lineage_ = named > 0;
        lineage_is_whole_ = nodes > 0 && named * 100 >= nodes * 95;
        say(known > 0, "lineage",
            known > 0 ? share(known, nodes) + " graph nodes lead back to their capture"
                      : std::string("the capture of the graphs is not in the recording, or not traced"));
        if (known > 0) {
            say(named > 0, "ranges at capture",
                named > 0 ? share(named, nodes) + " graph nodes were captured inside a named range"
                          : std::string("no range was open while the graphs were captured"));
        }
    }

    void look_at_ranges() {
        std::array<std::size_t, 5> sources{};
        for (const Annotations::Source source : trace_.annotations.source) ++sources[static_cast<std::size_t>(source)];
        static constexpr std::array<const char*, 5> names{"NVTX", "user", "operator", "Python", "GPU user"};
        std::string text;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i] > 0) text += (text.empty() ? "" : ", ") + fmt::format("{} {}", sources[i], names[i]);
        }
        has_ranges_ = trace_.annotations.size() > 0;
        say(has_ranges_, "ranges", has_ranges_ ? text + " ranges" : "no range that the program named");
    }

    void look_at_launches() {
        has_launches_ = trace_.launches.size() > 0;
        say(has_launches_, "launches",
            has_launches_ ? number_of(trace_.launches.size(), "API call") : "no call that launched a kernel is recorded");
    }

    void look_at_annotations() {
        if (trace_.kernels.annotation.empty() && trace_.kernels.annotation_module.empty() && trace_.kernels.annotation_layer.empty())
            return;
        has_annotations_ = true;
        std::size_t named = 0;
        for (std::size_t k = 0; k < trace_.kernels.size(); ++k) {
            named += (!trace_.kernels.annotation.empty() && trace_.kernels.annotation[k] != 0) ||
                     (!trace_.kernels.annotation_module.empty() && trace_.kernels.annotation_module[k] != 0);
        }
        say(named > 0, "annotations", share(named, trace_.kernels.size()) + " GPU events name their node or module");
    }

    /// What the recording lost: at its ends, in the middle, in the file.
    void look_at_ending() {
        std::size_t cut = 0, lossy = 0;
        for (const Step& step : window_.steps) {
            if (step.missing.empty()) continue;
            ++(step.missing.rfind("cut off", 0) == 0 ? cut : lossy);
        }
        if (cut > 0) say(false, "ends", number_of(cut, "step") + " cut off by the start or end of the recording");
        if (lossy > 0) say(false, "lost events", number_of(lossy, "step") + " with kernels that the profiler lost");
        const std::vector<Straggler> slow = find_stragglers(window_);
        if (!slow.empty()) {
            const auto worst = std::max_element(slow.begin(), slow.end(), [](const Straggler& a, const Straggler& b) {
                return a.wall - a.median < b.wall - b.median;
            });
            say(false, "stragglers",
                fmt::format("{}; step {} took {}", slow.size() == 1 ? "1 step is slow" : fmt::format("{} steps are slow", slow.size()),
                            window_.steps[worst->step].number, straggler_text(trace_, *worst)));
        }
        if (trace_.truncated) say(false, "file", "it ends before the recording did");
        if (trace_.streams_rewritten) say(false, "streams", "a tool moved kernels to other streams");
        if (trace_.resolution > 1) say(false, "times", "whole microseconds: the duration of a short kernel says little");
    }

    /// What `walkthrough` and `sources` show, where the profiler can record it.
    void look_at_operators() {
        if (!is_kineto() || !has_ranges_) return;
        const auto recorded = [](const std::vector<StringId>& column) {
            return static_cast<std::size_t>(std::count_if(column.begin(), column.end(), [](StringId text) { return text != 0; }));
        };
        const std::size_t shapes = recorded(trace_.annotations.input_shapes);
        const auto& sources = trace_.annotations.source;
        const auto frames = static_cast<std::size_t>(std::count(sources.begin(), sources.end(), Annotations::Source::python));
        const std::size_t stacks = std::max(frames, recorded(trace_.annotations.call_stack));
        has_shapes_ = shapes > 0;
        has_stacks_ = stacks > 0;
        say(has_shapes_, "shapes",
            has_shapes_ ? number_of(shapes, "operator") + " with the shapes of their operands"
                        : "no operator has the shapes of its operands");
        say(has_stacks_, "call stacks",
            has_stacks_ ? number_of(stacks, "Python frame") : "no Python frames: `adpipe sources` has no source lines");
    }

    /// Of what the profiler said about itself, what concerns GPU work; the rest in one line.
    void look_at_messages() {
        std::size_t others = 0;
        for (const std::string& message : trace_.profiler_messages) {
            const auto has = [&](const char* part) { return message.find(part) != std::string::npos; };
            if (!has("CUDA") && !has("GPU") && !has("NVTX") && !has("dropped")) {
                ++others;
                continue;
            }
            lost_events_ |= has("dropped") || has("might not have been") || has("Not all CUDA events");
            say(false, "profiler", message);
        }
        if (others > 0) say(true, "profiler", number_of(others, "message") + " about other things than GPU work");
    }

    /// The capture of graphs that another recording replays: it says what launched their kernels.
    bool is_a_capture() const {
        return !has_steps_ && !whole_graphs_ && std::any_of(trace_.launches.name.begin(), trace_.launches.name.end(), [&](StringId name) {
            return trace_.string(name).find("BeginCapture") != std::string::npos;
        });
    }

    std::vector<std::string> evidence() const {
        std::vector<std::string> list;
        if (has_lineage_) list.emplace_back("lineage: the range in which each graph node was captured");
        if (has_annotations_) list.emplace_back("annotation: what the trace wrote on the kernel");
        else if (has_ranges_ && has_launches_)
            list.emplace_back("annotation: the range around the launch, where it names a node or module");
        if (has_steps_) list.emplace_back("sequence: the order of the step's kernels against the order of the graph's ops");
        if (list.empty()) list.emplace_back("nothing: there is no whole step");
        if (is_a_capture())
            list = {"nothing here; but this is a capture of graphs: give it as --companion to the recording that replays them"};
        return list;
    }

    std::vector<std::string> commands() const {
        if (is_a_capture()) return {};
        const bool better_lineage = (has_replays() || whole_graphs_) && !lineage_is_whole_;
        if (is_nsys()) {
            std::vector<std::string> wanted;
            if (whole_graphs_ || !has_steps_ || better_lineage || !has_ranges_ || !has_launches_) {
                wanted.emplace_back("nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o decode <command>");
                wanted.emplace_back("nsys export --type sqlite -o decode.sqlite decode.nsys-rep");
            }
            if (better_lineage)
                wanted.emplace_back(
                    "Start it before the graphs are captured (no --capture-range), with an NVTX range around each node or layer.");
            if (lost_events_)
                wanted.emplace_back(
                    "So that no event is lost, record a shorter time (--duration=10) and nothing beside --trace=cuda,nvtx.");
            return wanted;
        }
        if (is_kineto()) {
            std::vector<std::string> wanted;
            const bool better_calls = !has_replays() && (!has_shapes_ || !has_stacks_);
            if (!has_steps_ || !has_ranges_ || !has_launches_ || trace_.resolution > 1 || better_lineage || better_calls) {
                wanted.emplace_back("with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],");
                wanted.emplace_back("                            record_shapes=True, with_stack=True, with_modules=True) as profiler:");
                wanted.emplace_back("    run_the_model()");
                wanted.emplace_back("profiler.export_chrome_trace(\"decode.json.gz\")");
            }
            if (trace_.resolution > 1) wanted.emplace_back("A newer PyTorch writes times in nanoseconds.");
            if (better_lineage)
                wanted.emplace_back(
                    "PyTorch's profiler does not record where graph nodes come from: nsys profile --trace=cuda,nvtx "
                    "--cuda-graph-trace=node does.");
            return wanted;
        }
        if (has_steps_ && has_launches_ && has_ranges_) return {};
        return {"rocprofv3 --kernel-trace --memory-copy-trace --hip-trace --marker-trace --output-format rocpd -- <command>"};
    }

    const Window& window_;
    const Trace& trace_;
    TraceFindings found_;
    bool has_steps_ = false, has_nodes_ = false, whole_graphs_ = false, has_lineage_ = false, lineage_is_whole_ = false;
    bool has_ranges_ = false, has_launches_ = false, has_annotations_ = false, has_shapes_ = false, has_stacks_ = false,
         lost_events_ = false;
};

}  // namespace

TraceFindings examine(const Window& window) { return Examination(window).run(); }

}  // namespace adpipe::cli
