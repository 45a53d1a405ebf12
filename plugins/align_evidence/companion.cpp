#include "companion.hpp"

#include <algorithm>
#include <cctype>

namespace adpipe::align {

namespace {

/// Below this a kernel takes nothing over: wrong is worse than unknown.
constexpr float sure_match = 0.97F;
/// Passes of the companion that are tried on a pass, those with the most names in common first.
constexpr std::size_t most_tried = 2;

}  // namespace

// ---- names

PairItem SharedNames::item(const Trace& trace, std::uint32_t kernel) {
    const StringId name = trace.kernels.name[kernel];
    auto found = by_id_.find({&trace, name});
    if (found == by_id_.end()) found = by_id_.emplace(std::pair{&trace, name}, named(trace.string(name), trace.kernels.kind[kernel])).first;
    PairItem item = found->second;
    if (!trace.kernels.shape.empty() && trace.kernels.shape[kernel] != 0)
        item.shape = shape_number(trace.shapes[trace.kernels.shape[kernel]]);
    return item;
}

PairItem SharedNames::item(const std::string& name, KernelKind kind) { return named(name, kind); }

const PairItem& SharedNames::named(const std::string& name, KernelKind kind) {
    const auto [found, is_new] = by_name_.try_emplace({name, kind});
    if (!is_new) return found->second;
    PairItem& item = found->second;
    if (name.empty()) return item;
    item.name = static_cast<std::uint32_t>(by_name_.size());
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (std::size_t c = 0; c < rules_.classes.size(); ++c) {
        if (!rules_.classes[c].matches(lower)) continue;
        item.kernel_class = static_cast<std::uint32_t>(c + 1);
        const auto family = std::find(rules_.families.begin(), rules_.families.end(), rules_.classes[c].family);
        item.family = static_cast<std::uint32_t>(family - rules_.families.begin() + 1);
        item.common = rules_.classes[c].family == "pointwise" || kind != KernelKind::kernel;
        break;
    }
    return item;
}

std::uint32_t SharedNames::shape_number(const LaunchShape& shape) {
    const auto found = std::find(shapes_.begin(), shapes_.end(), shape);
    if (found == shapes_.end()) shapes_.push_back(shape);
    return static_cast<std::uint32_t>((found == shapes_.end() ? shapes_.size() - 1 : static_cast<std::size_t>(found - shapes_.begin())) +
                                      1);
}

// ---- what the companion knows

Companion::Companion(std::shared_ptr<const Window> window, const OpTable& ops, const LaunchRules& rules)
    : window_(std::move(window)),
      trace_(*window_->trace),
      ranges_(trace_.annotations),
      scopes_(trace_, ranges_, ops, ScopeTable::Calls::ignored),
      names_(rules),
      name_(trace_.file.filename().string()) {
    add_passes();
    add_captures();
}

bool Companion::says_something(std::uint32_t scope) const {
    return scopes_[scope].op != OpTable::no_op || scopes_[scope].layer != layer_unknown;
}

/// Its own passes, where their order is known.
void Companion::add_passes() {
    NameTable own_names(trace_);
    for (const Pass& pass : find_passes(*window_, own_names, scopes_, ranges_, nullptr)) {
        if (!pass.in_order) continue;
        KnownPass known;
        known.captured = pass.captured != no_captured_graph;
        for (std::uint32_t slot = 0; slot < pass.slot_count; ++slot) {
            known.items.push_back(names_.item(trace_, pass.example[slot]));
            known.scopes.push_back(pass.scope[slot]);
        }
        add(std::move(known));
    }
}

/// The calls between the beginning and the end of a capture: what they launch does not run then, but the graph runs it in this order.
void Companion::add_captures() {
    const Launches& calls = trace_.launches;
    std::vector<std::uint32_t> order(calls.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(calls.thread[a], calls.start[a], -calls.end[a]) < std::tuple(calls.thread[b], calls.start[b], -calls.end[b]);
    });
    std::optional<KnownPass> open;
    std::uint64_t thread = no_id;
    Nanoseconds covered = 0;
    for (const std::uint32_t call : order) {
        const std::string& name = trace_.string(calls.name[call]);
        const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
        if (has("BeginCapture")) {
            open.emplace();
            thread = calls.thread[call];
            covered = 0;
        } else if (open && (has("EndCapture") || calls.thread[call] != thread)) {
            open->captured = true;
            open->nameless = std::all_of(open->items.begin(), open->items.end(), [](const PairItem& item) { return item.name == 0; });
            if (has("EndCapture")) add(std::move(*open));
            open.reset();
        } else if (open && (has("LaunchKernel") || has("MemcpyAsync") || has("MemsetAsync"))) {
            if (calls.end[call] <= covered) continue;  // the driver's call inside of the runtime's
            covered = calls.end[call];
            const KernelKind kind = has("Memcpy") ? KernelKind::memcpy : has("Memset") ? KernelKind::memset : KernelKind::kernel;
            open->items.push_back(names_.item(calls.kernel.empty() ? std::string{} : trace_.string(calls.kernel[call]), kind));
            open->scopes.push_back(scopes_.at(calls.thread[call], calls.start[call]));
        }
    }
}

void Companion::add(KnownPass pass) {
    const auto known = static_cast<std::size_t>(
        std::count_if(pass.scopes.begin(), pass.scopes.end(), [&](std::uint32_t scope) { return says_something(scope); }));
    if (pass.items.empty() || known * 2 < pass.items.size()) return;
    for (const PairItem& item : pass.items) ++pass.names[item.name];
    for (const KnownPass& other : passes_) {
        if (other.items == pass.items && other.scopes == pass.scopes) return;
    }
    passes_.push_back(std::move(pass));
}

// ---- what it says of another recording's pass

std::vector<const Companion::KnownPass*> Companion::best_fitting(const std::vector<PairItem>& items) const {
    std::map<std::uint32_t, std::size_t> names;
    for (const PairItem& item : items) ++names[item.name];
    std::vector<std::pair<std::size_t, const KnownPass*>> fits;
    for (const KnownPass& pass : passes_) {
        std::size_t common = 0;
        for (const auto& [name, count] : names) {
            const auto found = pass.names.find(name);
            if (found != pass.names.end()) common += std::min(count, found->second);
        }
        if (pass.nameless) common = pass.items.size() == items.size() ? items.size() / 2 : 0;
        // Where most of the names are others, it is another model, or another library altogether.
        if (common * 3 >= items.size()) fits.emplace_back(2 * common + 1000 - std::min<std::size_t>(1000, pass.items.size()), &pass);
    }
    std::stable_sort(fits.begin(), fits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const KnownPass*> best;
    for (std::size_t i = 0; i < fits.size() && i < most_tried; ++i) best.push_back(fits[i].second);
    return best;
}

Companion::Answer Companion::look_up(const Trace& trace, const std::vector<std::uint32_t>& kernels, PairEnds ends) {
    ++asked_;
    std::vector<PairItem> items;
    for (const std::uint32_t k : kernels) items.push_back(names_.item(trace, k));
    Answer best;
    std::size_t best_answered = 0;
    for (const KnownPass* const pass : best_fitting(items)) {
        std::size_t answered = 0;
        Answer answer = pass->nameless ? by_position(items, *pass) : by_alignment(items, *pass, ends, answered);
        if (pass->nameless) answered = items.size();
        if (answered <= best_answered) continue;
        best = std::move(answer);
        best_answered = answered;
    }
    // What fits in fewer than half of its places may fit there by chance.
    if (best_answered * 2 < items.size()) best.clear();
    answered_ += best.empty() ? 0 : 1;
    return best;
}

Companion::Answer Companion::by_alignment(const std::vector<PairItem>& items, const KnownPass& pass, PairEnds ends,
                                          std::size_t& answered) const {
    Answer answer(items.size());
    const auto matches = align_pairs(items, pass.items, ends);
    for (std::size_t i = 0; i < matches.size(); ++i) {
        answer[i] = judge(matches[i], pass);
        float total = 0;
        for (const PairMatch& match : matches[i]) total += match.probability;
        answered += total >= sure_match ? 1 : 0;
    }
    return answer;
}

/// Equally many, in the order of the capture on both sides: the one is the other.
Companion::Answer Companion::by_position(const std::vector<PairItem>& items, const KnownPass& pass) const {
    Answer answer(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (says_something(pass.scopes[i])) answer[i] = Said{scopes_[pass.scopes[i]], 1.0F, true};
    }
    return answer;
}

/// Several kernels of the companion may be meant as long as all of them say the same.
std::optional<Companion::Said> Companion::judge(const std::vector<PairMatch>& matches, const KnownPass& pass) const {
    std::map<std::uint32_t, float> said;
    for (const PairMatch& match : matches) said[pass.scopes[match.other]] += match.probability;
    for (const auto& [scope, probability] : said) {
        if (probability >= sure_match && says_something(scope)) return Said{scopes_[scope], std::min(probability, 1.0F), pass.captured};
    }
    return std::nullopt;
}

}  // namespace adpipe::align
