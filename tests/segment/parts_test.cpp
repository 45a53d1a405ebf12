#include "orders.hpp"
#include "programs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace segment;

namespace {

struct PeriodOnly : LayerFinder {
    std::optional<Period> find(const SymbolTable& table, SymbolSpan sequence, std::span<const std::uint32_t>) const override {
        return find_period(table, sequence);
    }
};

}  // namespace

TEST_CASE("patterns of kernel names") {
    CHECK(name_fits("paged_attention_ll4mi_reduce", "attention"));
    CHECK(name_fits("paged_attention_ll4mi_reduce", "paged*reduce"));
    CHECK(name_fits("paged_attention_ll4mi_reduce", "*"));
    CHECK_FALSE(name_fits("paged_attention_ll4mi_reduce", "reduce*paged"));
    CHECK_FALSE(name_fits("abc", "abcd"));
    CHECK_FALSE(name_fits("aba", "ab*ab"));  // parts do not overlap
}

TEST_CASE("names without their numbers") {
    CHECK(without_numbers("nvjet_tst_64x8_64x16") == without_numbers("nvjet_tst_128x16_64x8"));
    CHECK(without_numbers("mlir_fused_9fbb5122bab7668b") == without_numbers("mlir_fused_0123456789abcdef"));
    CHECK(without_numbers("rms_norm") != without_numbers("layer_norm"));
}

TEST_CASE("sequences are paired where they are the same") {
    const Symbols a{1, 2, 3, 4, 5, 6, 7};
    CHECK(match_sequences(a, a) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
    CHECK(match_sequences(a, Symbols{1, 2, 4, 5, 6, 7}) == std::vector<std::int32_t>{0, 1, -1, 2, 3, 4, 5});
    CHECK(match_sequences(Symbols{5, 6, 7}, a) == std::vector<std::int32_t>{4, 5, 6});
    CHECK(match_sequences(a, Symbols{9, 9}) == std::vector<std::int32_t>(7, -1));
    CHECK(match_sequences(Symbols{}, a).empty());
    CHECK(match_sequences(a, Symbols{}) == std::vector<std::int32_t>(7, -1));
}

TEST_CASE("a part of a sequence that repeats goes to the end that it kept") {
    Symbols whole{100};
    for (int layer = 0; layer < 12; ++layer) whole.insert(whole.end(), {1, 2, 3, 4});
    whole.push_back(1);  // the final norm
    Symbols tail(whole.end() - 18, whole.end());
    tail.push_back(77);
    const std::vector<std::int32_t> of_tail = match_sequences(tail, whole);
    CHECK(of_tail[0] == static_cast<std::int32_t>(whole.size()) - 18);
    CHECK(of_tail[17] == static_cast<std::int32_t>(whole.size()) - 1);
    CHECK(of_tail[18] == -1);
    const std::vector<std::int32_t> of_head = match_sequences(SymbolSpan{whole}.first(20), whole);
    CHECK(of_head[19] == 19);
}

TEST_CASE("a common subsequence is as long as the table says") {
    const Symbols a{1, 2, 3, 1, 2, 3, 4, 5, 1};
    const Symbols b{2, 1, 2, 3, 4, 1, 9};
    CHECK(CommonSubsequence(a, 10).length(b) == 6);
    CHECK(CommonSubsequence(b, 10).length(a) == 6);
    Symbols many;
    for (std::uint32_t i = 0; i < 200; ++i) many.push_back(i % 7);
    CHECK(CommonSubsequence(many, 10).length(many) == 200);  // more than one word of bits
}

TEST_CASE("anchors: every run of a kernel is a layer") {
    const orders::Order order = orders::model(std::vector<orders::Names>(12, orders::dense_layer()));
    SymbolTable table;
    Symbols symbols;
    std::vector<std::uint32_t> anchors;
    for (const std::string& name : order.kernels) {
        if (name_fits(name, "fmha")) anchors.push_back(static_cast<std::uint32_t>(symbols.size()));
        symbols.push_back(table.intern(name));
    }
    const auto around = period_of_anchors(table, symbols, anchors, false);
    REQUIRE(around);
    REQUIRE(around->layering.spans.size() == 12);
    CHECK(order.layer[around->layering.spans[3].begin] == 3);
    CHECK(order.layer[around->layering.spans[3].begin - 1] == 2);
    const auto at = period_of_anchors(table, symbols, anchors, true);
    REQUIRE(at);
    REQUIRE(at->layering.spans.size() == 12);
    CHECK(at->layering.spans[3].begin == anchors[3]);
    CHECK_FALSE(period_of_anchors(table, symbols, {anchors[0]}, false));
}

namespace {

/// A trace of kernels launched one by one, with a window whose steps are the passes.
struct EagerTrace {
    std::shared_ptr<adpipe::Trace> trace = std::make_shared<adpipe::Trace>();
    adpipe::Window window;

    void add_pass(const orders::Names& names, std::size_t from, std::size_t to) {
        adpipe::Step step;
        step.number = static_cast<std::uint32_t>(window.steps.size());
        step.chosen = true;
        adpipe::Kernels& kernels = trace->kernels;
        for (std::size_t i = from; i < to; ++i) {
            const auto k = static_cast<std::uint32_t>(kernels.start.size());
            kernels.start.push_back(adpipe::Nanoseconds{10} * k);
            kernels.end.push_back(adpipe::Nanoseconds{10} * k + 5);
            kernels.name.push_back(string_of(names[i]));
            step.kernels.push_back(k);
        }
        step.start = kernels.start[step.kernels.front()];
        step.end = kernels.end[step.kernels.back()];
        window.steps.push_back(std::move(step));
    }

    Programs programs() {
        window.trace = trace;
        window.step_of_kernel.resize(trace->kernels.start.size());
        SymbolTable table;
        return find_programs(std::make_shared<adpipe::Window>(window), table, finder);
    }

private:
    adpipe::StringId string_of(const std::string& name) {
        for (std::size_t i = 0; i < trace->strings.size(); ++i) {
            if (trace->strings[i] == name) return static_cast<adpipe::StringId>(i);
        }
        trace->strings.push_back(name);
        return static_cast<adpipe::StringId>(trace->strings.size() - 1);
    }
    PeriodOnly finder;
};

}  // namespace

TEST_CASE("passes that the recording cut off are left out, and said to be") {
    const orders::Names names = orders::model(std::vector<orders::Names>(12, orders::dense_layer())).kernels;
    EagerTrace eager;
    eager.add_pass(names, 75, names.size());
    eager.add_pass(names, 0, names.size());
    eager.add_pass(names, 0, 47);
    const Programs found = eager.programs();
    REQUIRE(found.programs.size() == 1);
    REQUIRE(found.programs.front().instances.size() == 1);
    CHECK(found.programs.front().instances.front().step == 1);
    CHECK(found.cut_off.size() == 2);
    CHECK(found.window->steps[0].missing.rfind("cut off at the start of the recording", 0) == 0);
    CHECK(found.window->steps[1].chosen);
    CHECK(found.window->steps[2].missing.rfind("cut off at the end of the recording", 0) == 0);
    CHECK_FALSE(found.window->steps[2].chosen);
}

TEST_CASE("a smaller model that runs whole at the end is not cut off") {
    const orders::Names large = orders::model(std::vector<orders::Names>(12, orders::dense_layer())).kernels;
    const orders::Names small = orders::model(std::vector<orders::Names>(6, orders::dense_layer())).kernels;
    EagerTrace eager;
    eager.add_pass(large, 0, large.size());
    eager.add_pass(small, 0, small.size());
    CHECK(eager.programs().cut_off.empty());
}

TEST_CASE("ranks with a share of the layers each cut nothing off") {
    const orders::Names all = orders::model(std::vector<orders::Names>(16, orders::dense_layer())).kernels;
    EagerTrace eager;
    for (int i = 0; i < 2; ++i) {
        eager.add_pass(all, 0, 71);  // the embedding and seven layers
        eager.add_pass(all, 71, all.size());
        eager.window.steps.back().device = 1;
    }
    for (adpipe::Step& step : eager.window.steps) step.device = std::max(step.device, 0);
    CHECK(eager.programs().cut_off.empty());
}

TEST_CASE("rows of several tables are in no order") {
    adpipe::Trace trace;
    trace.kernels.row = {1, 2, 5, 7};
    CHECK(rows_are_places_in_file(trace));
    trace.kernels.row = {1, 2, 5, 1, 2};
    CHECK_FALSE(rows_are_places_in_file(trace));
}

TEST_CASE("kernels that repeat in file order only are put into that order") {
    const orders::Names names = orders::model(std::vector<orders::Names>(12, orders::dense_layer())).kernels;
    SymbolTable table;
    StepKernels kernels;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
        const std::uint32_t k = (i * 37) % static_cast<std::uint32_t>(names.size());  // the order of their times
        kernels.symbols.push_back(table.intern(names[k]));
        kernels.kernel.push_back(k);
        kernels.row.push_back(k);
        kernels.start.push_back(i);
        kernels.stream.push_back(0);
    }
    const auto layers = find_step_layers(table, kernels, PeriodOnly{});
    REQUIRE(layers);
    CHECK(layers->times_mixed_up);
    CHECK(layers->layers.size() == 12);
    CHECK(std::is_sorted(kernels.kernel.begin(), kernels.kernel.end()));
}
