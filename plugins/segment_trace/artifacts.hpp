#pragma once

// What other stages read: a graph with one vertex per kernel of a program, its layers, and the attribution of all
// kernels to it.

#include "programs.hpp"

#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/segmentation.hpp>

#include <memory>
#include <string>

namespace segment {

struct Artifacts {
    std::shared_ptr<const adpipe::GraphModel> graph;
    std::shared_ptr<const adpipe::Layers> layers;
    std::shared_ptr<const adpipe::Attribution> attribution;
    std::shared_ptr<const adpipe::Segmentation> segmentation;
};

Artifacts make_artifacts(const Programs& programs, const SymbolTable& table, const std::string& strategy);

}  // namespace segment
