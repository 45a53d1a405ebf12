#pragma once

#include <adpipe/kernel_names.hpp>
#include <adpipe/model/decoded_names.hpp>
#include <adpipe/model/window.hpp>

#include <string>

namespace adpipe::render_tables {

/// "step,phase,batch_size,graph,process,device,kernels,start_ns,sum_us,wall_us,used,why": all steps of the window, in order of time.
std::string steps_csv(const Window& window);

/// "name,short_name,library,category,parameters,rule,count,total_us,pct": the most time first, by names. Without a trace the last three are empty.
std::string names_csv(const DecodedNames& names, const Trace* trace);

}  // namespace adpipe::render_tables
