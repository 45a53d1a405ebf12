#include "orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace orders;

namespace {

void check_whole(const Order& order) {
    const Found found = found_in(order.kernels);
    REQUIRE(found.any);
    CHECK(*std::max_element(found.layer.begin(), found.layer.end()) == *std::max_element(order.layer.begin(), order.layer.end()));
    CHECK(agreement(order, found) == 1.0);
}

std::vector<Names> repeated(std::size_t count, const std::vector<Names>& pattern) {
    std::vector<Names> layers;
    for (std::size_t i = 0; i < count; ++i) layers.push_back(pattern[i % pattern.size()]);
    return layers;
}

}  // namespace

TEST_CASE("layers of one kind") {
    check_whole(model(repeated(32, {dense_layer()})));
    check_whole(model(repeated(4, {dense_layer()})));
}

TEST_CASE("dense layers first, then experts") {
    std::vector<Names> layers = repeated(3, {dense_layer()});
    for (int i = 0; i < 58; ++i) layers.push_back(moe_layer());
    const Order order = model(layers);
    check_whole(order);
    const Found found = found_in(order.kernels);
    REQUIRE(found.kind.size() == 61);
    CHECK(found.kind[0] == found.kind[2]);
    CHECK(found.kind[2] != found.kind[3]);
    CHECK(found.kind[3] == found.kind[60]);
}

TEST_CASE("a single dense layer first, then experts") {
    std::vector<Names> layers = repeated(1, {dense_layer()});
    for (int i = 0; i < 26; ++i) layers.push_back(moe_layer());
    const Order order = model(layers);
    check_whole(order);
    const Found found = found_in(order.kernels);
    REQUIRE(found.kind.size() == 27);
    CHECK(found.kind[0] != found.kind[1]);
    CHECK(std::set<std::uint32_t>(found.kind.begin(), found.kind.end()).size() == 2);
}

TEST_CASE("three layers of linear attention to one of full attention") {
    const auto order = model(repeated(24, {linear_attention_layer(), linear_attention_layer(), linear_attention_layer(), dense_layer()}));
    check_whole(order);
    CHECK(found_in(order.kernels).kind[3] == found_in(order.kernels).kind[7]);
    CHECK(found_in(order.kernels).kind[2] != found_in(order.kernels).kind[3]);
}

TEST_CASE("sliding and global attention take turns") { check_whole(model(repeated(26, {sliding_layer(), dense_layer()}))); }

TEST_CASE("a first layer whose norm has no residual sum yet") {
    Order order = model(repeated(16, {dense_layer()}));
    order.kernels[1] = "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)";
    check_whole(order);
}

TEST_CASE("lost kernels do not shift the layers behind them") {
    const Order whole = model(repeated(48, {dense_layer()}));
    std::mt19937 random(3);
    Order damaged;
    for (std::size_t k = 0; k < whole.kernels.size(); ++k) {
        if (random() % 50 == 0) continue;
        damaged.kernels.push_back(whole.kernels[k]);
        damaged.layer.push_back(whole.layer[k]);
    }
    REQUIRE(damaged.kernels.size() < whole.kernels.size());
    CHECK(agreement(damaged, found_in(damaged.kernels)) > 0.95);
}

TEST_CASE("names do not matter, only what they have in common") {
    // Kernels that no rule knows: the order alone must do.
    Order order = model(repeated(20, {dense_layer()}));
    std::vector<std::string> known;
    for (std::string& name : order.kernels) {
        auto at = std::find(known.begin(), known.end(), name);
        if (at == known.end()) at = known.insert(known.end(), name);
        std::string letters;
        for (auto number = static_cast<std::size_t>(at - known.begin()) + 26; number > 0; number /= 26)
            letters += static_cast<char>('a' + number % 26);
        name = "zz" + letters;
    }
    const Found found = found_in(order.kernels);
    REQUIRE(found.any);
    // Where a layer begins is a convention that needs names; how many there are does not.
    const std::set<std::int32_t> layers(found.layer.begin(), found.layer.end());
    CHECK(layers.size() >= 20);
    CHECK(layers.size() <= 21);
}

TEST_CASE("loops of small kernels are a part of their layers") {
    // Streams that are mixed by a matrix whose rows and columns are normalised in turns, before either block.
    const std::string sum = "void at::native::reduce_kernel<512, 1, at::native::sum_functor<float>>(int)";
    const std::string divide =
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, DivFunctor<float>>>(int)";
    Names mixing{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT"};
    for (int round = 0; round < 40; ++round) mixing.insert(mixing.end(), {sum, divide});
    const auto with_mixing = [&](const Names& layer) {
        Names names = mixing;
        names.insert(names.end(), layer.begin(), layer.begin() + 6);
        names.insert(names.end(), mixing.begin(), mixing.end());
        names.insert(names.end(), layer.begin() + 6, layer.end());
        return names;
    };
    check_whole(model(repeated(8, {with_mixing(moe_layer()), with_mixing(dense_layer())})));
}

TEST_CASE("layers that lack a block") {
    // Which layers do without attention was found by a search: in no regular order.
    const Names whole = dense_layer();
    const Names no_attention(whole.begin() + 6, whole.end());
    std::vector<Names> layers;
    for (const char kind : std::string{"wwnwwnnwwwnwwnww"}) layers.push_back(kind == 'w' ? whole : no_attention);
    check_whole(model(layers));
}

TEST_CASE("layers of one block each") {
    // A state-space model, attention or a feed-forward network, in no regular order.
    const Names whole = dense_layer();
    const Names attention(whole.begin(), whole.begin() + 6);
    const Names network(whole.begin() + 6, whole.end());
    const Names mamba = state_space_layer();
    std::vector<Names> layers;
    for (const char kind : std::string{"mfmfmafmfmfmafmfmf"}) layers.push_back(kind == 'm' ? mamba : kind == 'a' ? attention : network);
    check_whole(model(layers));
}

TEST_CASE("whether a product is added up by a kernel of its own depends on sizes alone") {
    std::vector<Names> layers;
    for (std::size_t i = 0; i < 16; ++i) {
        Names names = dense_layer();
        if (i % 3 == 1) names.insert(names.begin() + 2, "void cublasLt::splitKreduce_kernel<32, 16>(float)");
        if (i % 5 == 2) names.push_back("void cublasLt::splitKreduce_kernel<32, 16>(float)");
        layers.push_back(names);
    }
    check_whole(model(layers));
    CHECK(found_in(model(layers).kernels).kind == std::vector<std::uint32_t>(16, 0));
}

TEST_CASE("attention that is written out, with a sigmoid behind it") {
    const Names whole = dense_layer();
    Names names{whole[0], whole[1], "void softmax_warp_forward<float, 8>(float*)", whole[1],
                "void at::native::vectorized_elementwise_kernel<4, at::native::sigmoid_kernel_cuda(int)>(int)"};
    names.insert(names.end(), whole.begin() + 5, whole.end());
    check_whole(model(repeated(12, {names})));
}

TEST_CASE("a second stack whose first layer looks something up") {
    // An encoder and a decoder; the first layer of each also makes a position bias out of an embedding.
    const std::string gather = "void at::native::vectorized_gather_kernel<16, long>(char*)";
    const auto first_of = [&](Names names) {
        const Names bias{"arange_kernel", "void abs_kernel_cuda(int)", "void log_kernel_cuda(int)", gather, "void add_kernel_bias(int)"};
        names.insert(names.begin() + 2, bias.begin(), bias.end());
        return names;
    };
    const Names encoder = dense_layer();
    Names decoder(encoder.begin(), encoder.begin() + 6);
    decoder.insert(decoder.end(), encoder.begin(), encoder.end());
    Order order;
    order.outside({gather}).layers(first_of(encoder)).layers(encoder, 5).outside({encoder[0], gather, "mask_kernel"});
    order.layers(first_of(decoder)).layers(decoder, 5).outside({encoder[0], encoder[1]});
    check_whole(order);
}

TEST_CASE("a softmax behind the head is of sampling") {
    const Names whole = dense_layer();
    const std::string softmax = "void softmax_warp_forward<float, 8>(float*)";
    Names names{whole[0], whole[1], softmax, whole[1]};
    names.insert(names.end(), whole.begin() + 5, whole.end());
    Order order = model(repeated(8, {names}));
    order.kernels.insert(order.kernels.end() - 1, softmax);
    order.layer.insert(order.layer.end() - 1, -1);
    check_whole(order);
}

TEST_CASE("what repeats by chance is no model") {
    std::mt19937 random(5);
    Names noise;
    for (int i = 0; i < 600; ++i) noise.push_back(std::string(1, static_cast<char>('a' + random() % 12)) + "_kernel");
    const Found found = found_in(noise);
    CHECK((!found.any || found.confidence < 0.5));
    CHECK_FALSE(found_in({}).any);
    CHECK_FALSE(found_in({"a"}).any);
    CHECK_FALSE(found_in(Names(500, "the_same_kernel")).any);
    CHECK_FALSE(found_in(repeated(100, {{"ping"}, {"pong"}}).front()).any);
}

TEST_CASE("a long sequence has the layers of a short one") {
    // Beyond the part on which readings are compared.
    const Order order = model(repeated(6000, {dense_layer()}));
    REQUIRE(order.kernels.size() > 50000);
    check_whole(order);
}
