#include "vote.hpp"

#include "layer_summary.hpp"

#include <algorithm>
#include <cstddef>

namespace adpipe::member {

namespace {

constexpr std::size_t shown_differences = 10;

bool agree(const Membership& a, const Membership& b) {
    if (a.layer == b.layer) return true;
    // A vertex that serves two layers is right in either.
    return (a.also != layer_unknown && a.also == b.layer) || (b.also != layer_unknown && b.also == a.layer);
}

std::string where(const Layers& layers, const Membership& member) {
    std::string text = layers.strategy + ": " + layer_text(member.layer);
    if (member.reason != 0) text += " (" + layers.text(member.reason) + ")";
    return text;
}

/// The ballot whose answer most others share; ties go to the first.
std::size_t winner(const std::vector<std::shared_ptr<const Layers>>& ballots, VertexId v) {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < ballots.size(); ++i) {
        const auto same = std::count_if(ballots.begin(), ballots.end(), [&](const std::shared_ptr<const Layers>& other) {
            return other->of[v].layer == ballots[i]->of[v].layer;
        });
        const bool knows = ballots[i]->of[v].layer != layer_unknown;
        if (knows && same > most) {
            most = same;
            best = i;
        }
    }
    return best;
}

void check(const GraphModel& graph, const std::vector<std::shared_ptr<const Layers>>& ballots) {
    if (ballots.empty()) {
        throw Error("ADP-MEMBER-002", "member.vote has nothing to compare",
                    "name the stages to compare: `from: {layers: [member.dataflow, member.module_path]}`");
    }
    for (const auto& ballot : ballots) {
        if (ballot->graph_digest != graph.digest() || ballot->of.size() != graph.size()) {
            throw Error("ADP-MEMBER-003", "the layers of " + ballot->strategy + " belong to another graph",
                        "let all stages that member.vote compares read the same graph");
        }
    }
}

}  // namespace

Layers vote(const GraphModel& graph, const std::vector<std::shared_ptr<const Layers>>& ballots, std::vector<Diagnostic>& notes) {
    check(graph, ballots);
    Layers result;
    result.graph_digest = graph.digest();
    result.of.resize(graph.size());
    Diagnostic warning;
    warning.severity = Severity::warning;
    warning.code = "ADP-MEMBER-004";
    std::size_t differences = 0;
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Layers& chosen = *ballots[winner(ballots, v)];
        Membership& member = result.of[v];
        member = chosen.of[v];
        member.stack = result.text_id(chosen.text(chosen.of[v].stack));
        member.sub_group = result.text_id(chosen.text(chosen.of[v].sub_group));
        member.reason = result.text_id(chosen.text(chosen.of[v].reason));
        const bool all_agree = std::all_of(ballots.begin(), ballots.end(),
                                           [&](const std::shared_ptr<const Layers>& ballot) { return agree(ballot->of[v], chosen.of[v]); });
        if (all_agree) continue;
        member.certain = false;
        if (++differences > shown_differences) continue;
        const Vertex& vertex = graph.vertex(v);
        std::string note = "line " + std::to_string(vertex.line) + ", %" + std::string{vertex.name};
        for (const auto& ballot : ballots) note += "; " + where(*ballot, ballot->of[v]);
        warning.notes.push_back(std::move(note));
        if (differences == 1) warning.where = {graph.source().string(), vertex.line, 0};
    }
    if (differences != 0) {
        warning.message = std::to_string(differences) + (differences == 1 ? " node is" : " nodes are") +
                          " put into different layers by the strategies compared";
        if (differences > shown_differences) warning.notes.push_back("… and " + std::to_string(differences - shown_differences) + " more");
        warning.hint = "`adpipe members DUMP --why NODE` explains one node";
        notes.push_back(std::move(warning));
    }
    summarize_layers(graph, result);
    return result;
}

}  // namespace adpipe::member
