#include "orders.hpp"
#include "programs.hpp"

#include <doctest/doctest.h>

using namespace segment;

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
