#include <adpipe/model/operators.hpp>

#include <algorithm>
#include <map>

namespace adpipe {

std::shared_ptr<const Operators> operators_of(const std::vector<std::shared_ptr<const Operators>>& all, const Trace& trace) noexcept {
    for (const auto& operators : all) {
        if (operators->trace.get() == &trace && operators->any()) return operators;
    }
    return nullptr;
}

std::string commonest_operator(const Operators& operators, const std::vector<std::uint32_t>& kernels) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t k : kernels) ++counts[operators.of_kernel[k]];
    counts.erase(0);
    if (counts.empty()) return {};
    const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return operators.names[most->first] + (counts.size() > 1 ? ", …" : "");
}

}  // namespace adpipe
