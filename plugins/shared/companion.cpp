#include "companion.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

namespace adpipe::launches {

namespace {

/// Below this a kernel takes nothing over: wrong is worse than unknown.
constexpr float sure_place = 0.97F;

bool has(const std::string& name, std::string_view part) { return name.find(part) != std::string::npos; }

}  // namespace

Companion::Companion(std::shared_ptr<const Window> window, const KernelNames& names)
    : window_{std::move(window)}, names_{names}, sites_{*window_, nullptr}, name_{window_->trace->file.filename().string()} {
    add_captures();
    add_steps();
}

/// The calls between the beginning and the end of a capture: what they launch does not run then, but the graph runs it
/// in this order.
void Companion::add_captures() {
    const Trace& trace = *window_->trace;
    const Launches& calls = trace.launches;
    if (calls.kernel.empty()) return;
    std::vector<std::uint32_t> order(calls.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(calls.thread[a], calls.start[a], a) < std::tuple(calls.thread[b], calls.start[b], b);
    });
    std::optional<Pass> open;
    std::uint64_t thread = no_id;
    for (const std::uint32_t call : order) {
        const std::string& name = trace.string(calls.name[call]);
        if (has(name, "BeginCapture")) {
            open.emplace();
            thread = calls.thread[call];
        } else if (open && (has(name, "EndCapture") || calls.thread[call] != thread)) {
            if (has(name, "EndCapture") && !open->items.empty()) passes_.push_back(std::move(*open));
            open.reset();
        } else if (open && calls.kernel[call] != 0) {
            open->items.push_back(item(trace.string(calls.kernel[call]), KernelKind::kernel));
            open->members.push_back({true, call});
        }
    }
}

/// Passes that were launched kernel by kernel.
void Companion::add_steps() {
    const Trace& trace = *window_->trace;
    for (const Step& step : window_->steps) {
        if (step.replay || step.kernels.empty()) continue;
        Pass pass;
        for (const std::uint32_t k : step.kernels) {
            pass.items.push_back(
                item(trace.string(trace.kernels.name[k]), trace.kernels.kind.empty() ? KernelKind::kernel : trace.kernels.kind[k]));
            pass.members.push_back({false, k});
        }
        passes_.push_back(std::move(pass));
    }
}

/// Equal numbers for equal names, and for names that the same rule knows: another tile size of the same matrix product.
align::PairItem Companion::item(const std::string& name, KernelKind kind) const {
    const auto [found, is_new] = items_.try_emplace({name, kind});
    align::PairItem& result = found->second;
    if (!is_new) return result;
    const KernelName decoded = names_.decode(name);
    result.name = static_cast<std::uint32_t>(items_.size());
    if (!decoded.rule.empty())
        result.kernel_class = rules_.try_emplace(decoded.rule, static_cast<std::uint32_t>(rules_.size() + 1)).first->second;
    if (decoded.category != KernelCategory::other) result.family = static_cast<std::uint32_t>(decoded.category);
    result.common = kind != KernelKind::kernel || decoded.category == KernelCategory::elementwise ||
                    decoded.category == KernelCategory::copy || decoded.category == KernelCategory::reduction ||
                    decoded.category == KernelCategory::other;
    return result;
}

LaunchSite Companion::site_of(const Member& member) const {
    LaunchSite site = member.captured ? sites_.of_call(member.index) : sites_.of(member.index);
    site.companion = name_;
    return site;
}

std::vector<std::optional<LaunchSite>> Companion::sites_of(const Trace& trace, const std::vector<std::uint32_t>& kernels) const {
    std::vector<align::PairItem> items;
    for (const std::uint32_t k : kernels)
        items.push_back(item(trace.string(trace.kernels.name[k]), trace.kernels.kind.empty() ? KernelKind::kernel : trace.kernels.kind[k]));
    std::vector<std::optional<LaunchSite>> best(kernels.size());
    std::size_t most = 0;
    for (const Pass& pass : passes_) {
        std::vector<std::optional<LaunchSite>> found(kernels.size());
        std::size_t count = 0;
        const auto matches = align::align_pairs(items, pass.items);
        for (std::size_t i = 0; i < matches.size(); ++i) {
            for (const align::PairMatch& match : matches[i]) {
                if (match.probability < sure_place) continue;
                found[i] = site_of(pass.members[match.other]);
                ++count;
                break;
            }
        }
        if (count <= most) continue;
        best = std::move(found);
        most = count;
    }
    // What fits in fewer than half of its places may fit there by chance.
    if (most * 2 < kernels.size()) best.assign(kernels.size(), std::nullopt);
    return best;
}

}  // namespace adpipe::launches
