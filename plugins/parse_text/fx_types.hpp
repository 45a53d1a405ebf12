#pragma once

#include <adpipe/model/graph_fwd.hpp>

#include <string_view>
#include <unordered_map>

namespace adpipe::parse {

struct FxType {
    std::string_view shape;
    std::string_view dtype;
};

/// Turns annotations into the form that AutoDeploy prints, which is that of the model: "bf16[s44, s70, 64][64*s70, 64, 1]cuda:0" into
/// "s44xs70x64" and "torch.bfloat16", "Sym(s70)" into "?" and "SymInt". Anything else is kept as dtype.
class FxTypes {
public:
    explicit FxTypes(GraphBuilder& builder) : builder_(builder) {}

    FxType read(std::string_view annotation);

private:
    FxType convert(std::string_view annotation);

    GraphBuilder& builder_;
    std::unordered_map<std::string_view, FxType> known_;
};

}  // namespace adpipe::parse
