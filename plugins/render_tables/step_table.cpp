#include "step_table.hpp"

#include "../shared/table_text.hpp"

#include <adpipe/render/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace adpipe::render_tables {

namespace {

using namespace tables;

std::string known_number(std::int64_t number) { return number < 0 ? std::string{} : std::to_string(number); }

/// "tile 64x8x64; stages 16"
std::string parameters_field(const KernelName& name) {
    std::string text;
    for (const KernelParameter& parameter : name.parameters)
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", parameter.name, parameter.value);
    return text;
}

struct NameTime {
    std::uint64_t count = 0;
    Nanoseconds total = 0;
};

std::unordered_map<std::string_view, NameTime> times_by_name(const Trace& trace) {
    std::unordered_map<StringId, NameTime> by_id;
    const Kernels& kernels = trace.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        if (!kernels.kind.empty() && kernels.kind[k] != KernelKind::kernel) continue;
        NameTime& time = by_id[kernels.name[k]];
        ++time.count;
        time.total += kernels.end[k] - kernels.start[k];
    }
    std::unordered_map<std::string_view, NameTime> by_name;
    for (const auto& [id, time] : by_id) by_name.emplace(trace.string(id), time);
    return by_name;
}

}  // namespace

std::string steps_csv(const Window& window) {
    const Kernels& kernels = window.trace->kernels;
    std::string text = "step,phase,batch_size,graph,process,device,kernels,start_ns,sum_us,wall_us,used,why\n";
    for (const Step& step : window.steps) {
        Nanoseconds sum = 0;
        for (const std::uint32_t k : step.kernels) sum += kernels.end[k] - kernels.start[k];
        const std::int64_t pid = step.process < window.trace->processes.size() ? window.trace->processes[step.process].pid : -1;
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", step.number, phase_text(step.phase), known_number(step.batch_size),
                            step.graph == no_id ? std::string{} : std::to_string(step.graph), known_number(pid), known_number(step.device),
                            step.kernels.size(), step.start, one_decimal_us(static_cast<double>(sum)),
                            one_decimal_us(static_cast<double>(step.end - step.start)), step.chosen ? "yes" : "no",
                            render::csv_field(step.chosen ? step.reason : step.left_out));
    }
    return text;
}

std::string names_csv(const DecodedNames& names, const Trace* trace) {
    const auto times = trace == nullptr ? std::unordered_map<std::string_view, NameTime>{} : times_by_name(*trace);
    std::vector<std::pair<NameTime, const std::pair<const std::string, KernelName>*>> rows;
    Nanoseconds all = 0;
    for (const auto& entry : names.by_name) {
        const auto found = times.find(entry.first);
        rows.emplace_back(found == times.end() ? NameTime{} : found->second, &entry);
        all += rows.back().first.total;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first.total > b.first.total; });
    std::string text = "name,short_name,library,category,parameters,rule,count,total_us,pct\n";
    for (const auto& [time, entry] : rows) {
        const KernelName& name = entry->second;
        text += fmt::format("{},{},{},{},{},{},", render::csv_field(without_void(name.demangled)), render::csv_field(name.short_name),
                            name.library, category_text(name.category), render::csv_field(parameters_field(name)), name.rule);
        text += trace == nullptr ? ",,\n"
                                 : fmt::format("{},{},{}\n", time.count, one_decimal_us(static_cast<double>(time.total)),
                                               one_decimal_percent(time.total, all));
    }
    return text;
}

}  // namespace adpipe::render_tables
