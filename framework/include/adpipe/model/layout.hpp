#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/model/attribution.hpp>
#include <adpipe/model/decoded_names.hpp>
#include <adpipe/model/dump.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/metrics.hpp>
#include <adpipe/model/segmentation.hpp>
#include <adpipe/model/trace.hpp>
#include <adpipe/model/window.hpp>
#include <adpipe/stage.hpp>

#include <cstdint>

namespace adpipe {

/// Hash of the sizes of the types that cross the plugin boundary. Catches a plugin built against other headers of the same epoch.
constexpr std::uint64_t model_layout() {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const std::size_t size :
         {sizeof(Artifact),     sizeof(Diagnostic),  sizeof(OptionDecl),  sizeof(GivenOption),   sizeof(PortDecl),     sizeof(StageDecl),
          sizeof(PluginDecl),   sizeof(Vertex),      sizeof(Edge),        sizeof(Literal),       sizeof(GraphModule),  sizeof(GraphModel),
          sizeof(GraphBuilder), sizeof(Dump),        sizeof(Membership),  sizeof(Layer),         sizeof(Layers),       sizeof(Kernels),
          sizeof(LaunchShape),  sizeof(Launches),    sizeof(Annotations), sizeof(GraphNodes),    sizeof(GraphRuns),    sizeof(Process),
          sizeof(Device),       sizeof(Trace),       sizeof(Step),        sizeof(CapturedGraph), sizeof(Window),       sizeof(Attribution),
          sizeof(MetricColumn), sizeof(Metrics),     sizeof(FoundKind),   sizeof(OtherReading),  sizeof(FoundProgram), sizeof(Segmentation),
          sizeof(KernelName),   sizeof(DecodedNames)}) {
        hash = (hash ^ size) * 0x100000001b3U;
    }
    return hash;
}

}  // namespace adpipe
