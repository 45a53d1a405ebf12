#include "scopes.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>

namespace adpipe::align {

namespace {

constexpr float other_op = -60;
constexpr float other_layer = -14;
constexpr float neighbouring_layer = -2;  // an op that serves two layers
constexpr float other_module = -3;
constexpr float other_call = -8;
constexpr float layer_outside_layers = -10;
constexpr float op_outside_step = -4;

/// "layer 5", "Layer_5": the number, or layer_unknown.
LayerId bare_layer_number(const std::string& text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view word = "layer";
    if (lower.compare(0, word.size(), word) != 0) return layer_unknown;
    std::size_t at = word.size();
    while (at < lower.size() && (lower[at] == ' ' || lower[at] == '_' || lower[at] == '.')) ++at;
    if (at == lower.size() || lower.size() - at > 4) return layer_unknown;
    LayerId number = 0;
    for (; at < lower.size(); ++at) {
        if (std::isdigit(static_cast<unsigned char>(lower[at])) == 0) return layer_unknown;
        number = number * 10 + (lower[at] - '0');
    }
    return number;
}

}  // namespace

std::uint32_t ScopeTable::at(std::uint64_t thread, Nanoseconds time) {
    const std::uint32_t range = ranges_.innermost(thread, time);
    return range == RangeIndex::none ? nothing : of_range(range);
}

/// A range's scope: its own text first, what it leaves open from the ranges around it.
std::uint32_t ScopeTable::of_range(std::uint32_t range) {
    if (const auto found = of_range_.find(range); found != of_range_.end()) return found->second;
    Scope scope;
    std::vector<std::uint32_t> stack;
    for (std::uint32_t r = range; r != RangeIndex::none; r = ranges_.parent(r)) stack.push_back(r);
    for (const std::uint32_t r : stack) {
        const StringId name = trace_.annotations.name[r];
        auto known = of_text_.find(name);
        if (known == of_text_.end()) {
            Scope alone;
            read_text(trace_.string(name), alone);
            known = of_text_.emplace(name, std::move(alone)).first;
        }
        const Scope& says = known->second;
        if (scope.text.empty() && (says.op != OpTable::no_op || !says.module.empty() || says.layer != layer_unknown)) scope = says;
        if (scope.layer == layer_unknown) scope.layer = says.layer;
        if (scope.op != OpTable::no_op || (scope.layer != layer_unknown && !scope.module.empty())) break;
    }
    if (use_calls_ && scope.op == OpTable::no_op) scope.call = call_around(stack);
    const std::uint32_t number = scope.text.empty() && scope.call.empty() ? nothing : add(std::move(scope));
    of_range_.emplace(range, number);
    return number;
}

/// The outermost operator around a launch that the graph calls too, up to the first range of the program's own: what it calls in turn is its matter.
/// `stack`: ranges, the innermost first.
std::string ScopeTable::call_around(const std::vector<std::uint32_t>& stack) const {
    std::string found;
    for (const std::uint32_t r : stack) {
        if (trace_.annotations.source.empty() || trace_.annotations.source[r] != Annotations::Source::cpu_op) break;
        std::string call = trace_.string(trace_.annotations.name[r]);
        const std::size_t colons = call.find("::");
        if (colons == std::string::npos) continue;
        call.replace(colons, 2, ".");
        if (ops_.calls(call)) found = std::move(call);
    }
    return found;
}

std::uint32_t ScopeTable::without_call(std::uint32_t scope) {
    if (scopes_[scope].call.empty()) return scope;
    Scope rest = scopes_[scope];
    rest.call.clear();
    return rest.text.empty() ? nothing : add(std::move(rest));
}

bool ScopeTable::read_text(const std::string& text, Scope& scope) const {
    if (text.empty()) return false;
    scope.op = ops_.find(text);
    if (scope.op != OpTable::no_op) {
        scope.layer = ops_.layer(scope.op);
        scope.text = text;
        return true;
    }
    if (const LayerId number = bare_layer_number(text); number != layer_unknown) {
        scope.layer = number;
        scope.text = text;
        return true;
    }
    std::string module = as_identifier(text);
    if (module.find('_') == std::string::npos || ops_.ops_in_module(module).empty()) return false;
    scope.layer = layer_of_module(module);
    scope.module = std::move(module);
    scope.text = text;
    return true;
}

/// The layer that nearly all ops of a module are in.
LayerId ScopeTable::layer_of_module(const std::string& module) const {
    const std::vector<std::uint32_t> ops = ops_.ops_in_module(module);
    std::map<LayerId, std::size_t> count;
    for (const std::uint32_t op : ops) ++count[ops_.layer(op)];
    for (const auto& [layer, n] : count) {
        if (n * 10 >= ops.size() * 8) return layer;
    }
    return layer_unknown;
}

std::uint32_t ScopeTable::of_annotation(std::uint32_t kernel) {
    const Kernels& kernels = trace_.kernels;
    Scope scope;
    if (!kernels.annotation_module.empty() && kernels.annotation_module[kernel] != 0) {
        read_text(trace_.string(kernels.annotation_module[kernel]), scope);
    }
    if (!kernels.annotation.empty() && kernels.annotation[kernel] != 0) {
        Scope node;
        if (read_text(trace_.string(kernels.annotation[kernel]), node) && (node.op != OpTable::no_op || scope.text.empty()))
            scope = std::move(node);
    }
    if (!kernels.annotation_layer.empty() && kernels.annotation_layer[kernel] >= 0 && scope.op == OpTable::no_op) {
        scope.layer = kernels.annotation_layer[kernel];
        if (scope.text.empty()) scope.text = "layer " + std::to_string(scope.layer);
    }
    return scope.text.empty() ? nothing : add(std::move(scope));
}

std::uint32_t ScopeTable::outside_layers() {
    if (outside_layers_ == nothing) {
        Scope scope;
        scope.text = "outside of all layers";
        outside_layers_ = add(std::move(scope));
    }
    return outside_layers_;
}

std::uint32_t ScopeTable::outside_step() {
    if (outside_step_ == nothing) {
        Scope scope;
        scope.text = "outside of the forward pass";
        outside_step_ = add(std::move(scope));
    }
    return outside_step_;
}

std::uint32_t ScopeTable::add(Scope scope) {
    const std::string key = std::to_string(scope.op) + '|' + scope.module + '|' + std::to_string(scope.layer) + '|' + scope.text + '|' +
                            scope.call;
    const auto [found, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(scopes_.size()));
    if (is_new) {
        scopes_.push_back(std::move(scope));
        fits_.emplace_back();
    }
    return found->second;
}

void ScopeTable::prepare_fit(std::uint32_t scope) {
    if (scope != nothing && fits_[scope].empty()) fits_[scope].assign(ops_.size(), not_judged);
}

float ScopeTable::fit(std::uint32_t scope, std::uint32_t op) {
    if (scope == nothing) return 0;
    if (fits_[scope].empty()) return judge(scopes_[scope], op);
    // Threads may judge the same twice; they come to the same.
    const std::atomic_ref<std::int8_t> kept(fits_[scope][op]);
    std::int8_t fit = kept.load(std::memory_order_relaxed);
    if (fit == not_judged) kept.store(fit = static_cast<std::int8_t>(judge(scopes_[scope], op)), std::memory_order_relaxed);
    return fit;
}

float ScopeTable::judge(const Scope& scope, std::uint32_t op) const {
    if (&scope == &scopes_[outside_layers_]) return ops_.layer(op) >= 0 ? layer_outside_layers : 0;
    if (&scope == &scopes_[outside_step_]) return op_outside_step;
    if (scope.op != OpTable::no_op) return scope.op == op ? 0 : other_op;
    const float against = scope.call.empty() || ops_.call(op) == scope.call ? 0 : other_call;
    if (scope.layer != layer_unknown && ops_.layer(op) != scope.layer) {
        return against + (ops_.also(op) == scope.layer ? neighbouring_layer : other_layer);
    }
    if (scope.module.empty() || ops_.is_in_module(op, scope.module)) return against;
    // An op that names no module at all may be in any; one that names another module of the same layer is likely there.
    const std::string number = "_" + std::to_string(scope.layer);
    const std::size_t at = scope.layer < 0 ? std::string::npos : scope.module.find(number);
    if (at == std::string::npos) return against;
    return against + (ops_.is_in_module(op, std::string_view(scope.module).substr(0, at + number.size())) ? other_module : 0);
}

}  // namespace adpipe::align
