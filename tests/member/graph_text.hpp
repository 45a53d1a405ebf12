#pragma once

#include "layer_solver.hpp"
#include "membership.hpp"

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::member {

/// A graph from a short notation, one line each:
///     module NAME            a new module
///     x:                     an input
///     y = op(x, $w, 3)       an op; `$w` is a weight, a name defined above a value, anything else a literal
///     y = op(x) : 2x4        one with a shape
///     out y                  the output
std::shared_ptr<const GraphModel> graph_of(std::string_view text);

/// A graph and the layers that a strategy found in it.
class Members {
public:
    explicit Members(std::string_view text, NameUse names = NameUse::ignore);

    /// "3", "prologue", "epilogue", "input"; of the first module that has the name.
    std::string layer(std::string_view node) const;
    std::string also(std::string_view node) const;
    std::string stack(std::string_view node) const;
    std::string reason(std::string_view node) const;
    std::string group(std::string_view node) const;
    bool certain(std::string_view node) const { return of(node).certain; }
    /// Names of the values that carry a layer to the next, in the order of the text.
    std::vector<std::string> boundary(LayerId layer) const;
    const Layers& layers() const { return layers_; }
    const GraphModel& graph() const { return *graph_; }
    const std::vector<Diagnostic>& notes() const { return notes_; }

private:
    const Membership& of(std::string_view node) const;

    std::shared_ptr<const GraphModel> graph_;
    std::vector<Diagnostic> notes_;
    Layers layers_;
};

/// The rules that ship.
Rules common_rules();

/// `text` with every "{n}" replaced by `layer` and every "{p}" by the layer before.
std::string in_layer(std::string_view text, int layer);

}  // namespace adpipe::member
