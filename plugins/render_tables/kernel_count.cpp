#include "kernel_count.hpp"

#include "../shared/table_text.hpp"

#include <adpipe/render/distinct_names.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace adpipe::render_tables {

namespace {

using namespace tables;

class KernelCounter {
public:
    KernelCounter(const Window& window, const KernelNames& names)
        : window_(window), names_(names), trace_(*window.trace), kernels_(trace_.kernels) {}

    KernelCount run(bool whole) {
        if (whole) {
            std::vector<std::uint32_t> all(kernels_.size());
            for (std::uint32_t k = 0; k < all.size(); ++k) all[k] = k;
            add_by_device(all);
        } else {
            for (const Step& step : window_.steps) {
                if (!step.chosen) continue;
                ++result_.steps;
                add_by_device(step.kernels);
            }
        }
        for (auto& [device, time] : devices_) result_.devices.push_back(time);
        name_groups();
        add_categories();
        const auto most_time_first = [](std::vector<KernelGroup>& groups) {
            std::sort(groups.begin(), groups.end(),
                      [](const KernelGroup& a, const KernelGroup& b) { return a.total != b.total ? a.total > b.total : a.name < b.name; });
        };
        most_time_first(result_.kernels);
        most_time_first(result_.categories);
        return std::move(result_);
    }

private:
    using Interval = std::pair<Nanoseconds, Nanoseconds>;

    void add_by_device(const std::vector<std::uint32_t>& list) {
        std::map<std::int32_t, std::vector<Interval>> intervals;
        auto last = intervals.end();  // most kernels are of the device of the one before
        for (const std::uint32_t k : list) {
            const std::int32_t device = kernels_.device.empty() ? -1 : kernels_.device[k];
            if (last == intervals.end() || last->first != device) last = intervals.try_emplace(device).first;
            last->second.emplace_back(kernels_.start[k], kernels_.end[k]);
            add_kernel(k);
        }
        for (auto& [device, list_of_device] : intervals) add_times(device, list_of_device);
    }

    void add_times(std::int32_t device, std::vector<Interval>& intervals) {
        if (!std::is_sorted(intervals.begin(), intervals.end())) std::sort(intervals.begin(), intervals.end());
        DeviceTime& time = devices_[device];
        time.device = device;
        Nanoseconds reached = intervals.front().first;
        for (const auto& [start, end] : intervals) {
            time.sum += end - start;
            time.busy += std::max<Nanoseconds>(0, end - std::max(start, reached));
            reached = std::max(reached, end);
        }
        time.span += reached - intervals.front().first;
    }

    void add_kernel(std::uint32_t k) {
        const KernelKind kind = kernels_.kind.empty() ? KernelKind::kernel : kernels_.kind[k];
        KernelGroup& group = result_.kernels[group_of(kernels_.name[k], kind)];
        const Nanoseconds duration = kernels_.end[k] - kernels_.start[k];
        group.minimum = group.count == 0 ? duration : std::min(group.minimum, duration);
        group.maximum = std::max(group.maximum, duration);
        ++group.count;
        group.total += duration;
        ++result_.count;
        result_.total += duration;
    }

    std::size_t group_of(StringId name, KernelKind kind) {
        const std::size_t place = name * std::size_t{3} + static_cast<std::size_t>(kind);
        if (place >= group_of_.size()) group_of_.resize(place + 1, no_group);
        if (group_of_[place] == no_group) {
            group_of_[place] = result_.kernels.size();
            add_group(trace_.string(name), kind);
        }
        return group_of_[place];
    }

    void add_group(const std::string& name, KernelKind kind) {
        KernelName decoded = names_.decode(name);
        KernelGroup group;
        group.name = without_void(decoded.demangled);
        if (kind != KernelKind::kernel && name.empty()) group.name = kind == KernelKind::memcpy ? "Memcpy" : "Memset";
        if (decoded.short_name.empty()) decoded.short_name = group.name;
        group.library = decoded.library;
        group.category = category_of(decoded, kind);
        result_.kernels.push_back(std::move(group));
        decoded_.push_back(std::move(decoded));
    }

    void name_groups() {
        const std::vector<std::string> short_names = render::distinct_short_names(decoded_);
        for (std::size_t i = 0; i < short_names.size(); ++i) result_.kernels[i].short_name = short_names[i];
    }

    void add_categories() {
        std::map<KernelCategory, KernelGroup> by_category;
        for (const KernelGroup& kernel : result_.kernels) {
            KernelGroup& group = by_category[kernel.category];
            group.minimum = group.count == 0 ? kernel.minimum : std::min(group.minimum, kernel.minimum);
            group.maximum = std::max(group.maximum, kernel.maximum);
            group.count += kernel.count;
            group.total += kernel.total;
        }
        for (auto& [category, group] : by_category) {
            group.name = category_text(category);
            group.category = category;
            result_.categories.push_back(std::move(group));
        }
    }

    const Window& window_;
    const KernelNames& names_;
    const Trace& trace_;
    const Kernels& kernels_;
    static constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    std::vector<std::size_t> group_of_;  ///< by name and kind of kernel
    std::vector<KernelName> decoded_;    ///< of result_.kernels
    std::map<std::int32_t, DeviceTime> devices_;
    KernelCount result_;
};

}  // namespace

KernelCount count_kernels(const Window& window, bool whole, const KernelNames& names) { return KernelCounter(window, names).run(whole); }

}  // namespace adpipe::render_tables
