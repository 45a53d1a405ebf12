#pragma once

#include <string>
#include <string_view>

namespace adpipe::parse {

/// The attribute path of "self.model.norm.weight" or `getattr(getattr(self.encoder.block, "0").layer, "1").q.weight`: model.norm.weight,
/// encoder.block.0.layer.1.q.weight. `end` is where the path stops in `text`. False if `text` does not begin with one.
bool read_self_path(std::string_view text, std::string& path, std::size_t& end);

/// The module path in a comment such as "# nn_module_stack: {'L__self__': ('', 'a.B'), 'L__self___model': ('model', 'c.D')} # File: …": of
/// the innermost entry. False if the comment names none.
bool read_module_stack(std::string_view comment, std::string_view& path);

/// The attribute path in the name that Dynamo gives to a weight that it lifts to an argument:
/// "L_self_modules_layers_modules_0_parameters_weight_" → layers.0.weight, however the compiled code calls the model. Empty for any other name.
std::string lifted_weight_path(std::string_view name);

/// The target in a comment beside an argument, "# ParamAOTInput(target='layers.0.weight')"; empty if there is none.
std::string_view commented_weight_path(std::string_view comment);

}  // namespace adpipe::parse
