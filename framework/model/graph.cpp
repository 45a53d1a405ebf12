#include <adpipe/model/graph_fwd.hpp>

#include "model/graph_storage.hpp"
#include "model/text_hash.hpp"

namespace adpipe {

GraphModel::GraphModel(std::unique_ptr<const GraphStorage> storage)
    : storage_(std::move(storage)),
      vertices_(storage_->vertices),
      edges_(storage_->edges.data()),
      out_edges_(storage_->out_edges.data()),
      in_begin_(storage_->in_begin.data()),
      out_begin_(storage_->out_begin.data()) {}

GraphModel::~GraphModel() = default;

std::uint32_t GraphModel::size() const noexcept { return static_cast<std::uint32_t>(vertices_.size()); }

std::span<const GraphModule> GraphModel::modules() const noexcept { return storage_->modules; }

std::span<const Edge> GraphModel::edges() const noexcept { return storage_->edges; }

std::span<const Literal> GraphModel::literals(VertexId v) const noexcept {
    const auto& begin = storage_->literal_begin;
    return {storage_->literals.data() + begin[v], storage_->literals.data() + begin[v + 1]};
}

std::optional<VertexId> GraphModel::find(std::string_view name, std::optional<std::uint16_t> module) const noexcept {
    const std::size_t first = module ? *module : 0;
    const std::size_t last = module ? first + 1 : storage_->modules.size();
    for (std::size_t m = first; m < last; ++m) {
        const VertexId found = storage_->names.find(text_hash(name, m),
                                                    [&](VertexId v) { return vertices_[v].module == m && vertices_[v].name == name; });
        if (found != no_vertex) return found;
    }
    return std::nullopt;
}

std::uint64_t GraphModel::digest() const noexcept { return storage_->digest; }

const std::filesystem::path& GraphModel::source() const noexcept { return storage_->source; }

bool GraphModel::may_lack_edges() const noexcept { return storage_->may_lack_edges; }

}  // namespace adpipe
