// Recordings that lack kernels: how they show, and how an op is known by what is left of its kernels.

#include "lattice.hpp"
#include "losses.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace adpipe::align;

namespace {

std::vector<LatticeKernel> kernels(std::string_view letters) {
    std::vector<LatticeKernel> list;
    for (const char c : letters) {
        LatticeKernel kernel;
        kernel.name = kernel.variant = static_cast<std::uint32_t>(c);
        list.push_back(kernel);
    }
    return list;
}

bool differ(std::string_view a, std::string_view b) { return differ_by_losses(kernels(a), kernels(b)); }

constexpr std::string_view whole = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

}  // namespace

TEST_CASE("replays of one graph that are not alike lost kernels") {
    std::string one{whole};
    std::string other{whole};
    CHECK_FALSE(differ(one, other));
    one.erase(7, 1);
    CHECK(differ(one, other));
    other.erase(30, 1);
    CHECK(differ(one, other));
    CHECK(differ(other, one));
    CHECK(differ(whole, whole.substr(0, whole.size() - 1)));
    CHECK(differ(whole, whole.substr(1)));
}

TEST_CASE("another kernel in the place of one, or very many missing, is another graph") {
    std::string one{whole};
    one[7] = 'Z';
    CHECK_FALSE(differ(one, whole));
    CHECK_FALSE(differ(whole.substr(0, 40), whole));
    CHECK_FALSE(differ("", "abc"));
}

TEST_CASE("a sequence seen before is known with a gap where kernels may be missing, and only there") {
    constexpr std::uint32_t op = 3;
    constexpr double by_rules = -60;
    constexpr double log_names = 4;
    const auto factor = [&](bool learn_gaps, bool gaps_here, std::string_view letters) {
        SequenceMemory memory(learn_gaps);
        memory.add(op, kernels("abcd"), 1);
        return memory.log_factor(op, kernels(letters), by_rules, log_names, gaps_here);
    };
    CHECK(factor(true, true, "abcd") > 10);
    CHECK(factor(true, true, "abd") > 5);
    CHECK(factor(true, true, "abcd") > factor(true, true, "abd") + log_names);
    CHECK(factor(true, false, "abd") < -60);
    CHECK(factor(false, true, "abd") < -60);
    CHECK(factor(true, true, "ab") < -60);
}
