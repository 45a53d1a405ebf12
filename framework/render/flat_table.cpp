#include <adpipe/render/flat_table.hpp>
#include <adpipe/render/text.hpp>

#include <cmath>
#include <cstdio>
#include <utility>

namespace adpipe::render {

namespace {

std::string decimal(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

class FlatTable {
public:
    FlatTable(const LayerView& view, char separator) : view_(view), separator_(separator) {
        for (const auto& metrics : view.metrics) {
            for (const MetricColumn& column : metrics->columns) metrics_.push_back(&column);
        }
    }

    std::string text(bool with_header) {
        if (with_header) header();
        if (!view_.has_trace()) {
            for (const VertexId v : view_.nodes) row(v, nullptr);
        }
        for (const KernelUse& kernel : view_.kernels) row(kernel.node, &kernel);
        return std::move(out_);
    }

private:
    void field(std::string_view text) {
        if (!first_) out_ += separator_;
        first_ = false;
        out_ += separator_ == ',' ? csv_field(text) : tsv_field(text);
    }
    void end_row() {
        out_ += '\n';
        first_ = true;
    }

    void header() {
        for (const std::string_view name : {"stack", "layer", "group", "sub_group", "node", "op", "shape", "dtype"}) field(name);
        if (view_.has_trace()) {
            for (const std::string_view name : {"kernel", "stream", "steps", "median_ns", "min_ns", "mean_ns", "max_ns", "std_ns", "share",
                                                "evidence", "confidence", "also_serves", "reason", "full_name"}) {
                field(name);
            }
        }
        for (const MetricColumn* metric : metrics_) field(metric->unit.empty() ? metric->name : metric->name + "_" + metric->unit);
        end_row();
    }

    void row(VertexId v, const KernelUse* kernel) {
        field(view_.stack());
        field(layer_text(view_.number()));
        node_fields(v);
        if (kernel != nullptr) kernel_fields(*kernel);
        for (const MetricColumn* metric : metrics_) {
            const double value = v < metric->by_vertex.size() ? metric->by_vertex[v] : std::nan("");
            field(std::isfinite(value) ? decimal(value, 6) : "-");
        }
        end_row();
    }

    void node_fields(VertexId v) {
        if (v == no_vertex) {
            for (int i = 0; i < 6; ++i) field("-");
            return;
        }
        const Vertex& vertex = view_.graph->vertex(v);
        const Membership& member = view_.membership(v);
        field(group_text(member.group));
        field(view_.layers->text(member.sub_group));
        field(vertex.name);
        field(vertex.target);
        field(vertex.shape);
        field(vertex.dtype);
    }

    void kernel_fields(const KernelUse& kernel) {
        std::string also;
        for (const VertexId v : kernel.also) also += (also.empty() ? "" : " ") + std::string{view_.graph->vertex(v).name};
        const double share = view_.times.sum > 0 ? static_cast<double>(kernel.time.median) / static_cast<double>(view_.times.sum) : 0;
        field(kernel.name);
        field(kernel.stream < 0 ? std::string{"-"} : std::to_string(kernel.stream));
        field(std::to_string(kernel.time.count));
        field(std::to_string(kernel.time.median));
        field(std::to_string(kernel.time.minimum));
        field(std::to_string(std::llround(kernel.time.mean())));
        field(std::to_string(kernel.time.maximum));
        field(std::to_string(std::llround(kernel.time.deviation)));
        field(decimal(share, 6));
        field(evidence_text(kernel.evidence));
        field(decimal(static_cast<double>(kernel.confidence), 3));
        field(also);
        field(view_.attribution->texts[kernel.reason]);
        field(view_.trace().string(kernel.full_name));
    }

    const LayerView& view_;
    char separator_;
    std::vector<const MetricColumn*> metrics_;
    std::string out_;
    bool first_ = true;
};

}  // namespace

std::string flat_table(const LayerView& view, char separator, bool with_header) { return FlatTable(view, separator).text(with_header); }

}  // namespace adpipe::render
