#include <adpipe/beside.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include "model/graph_storage.hpp"
#include "model/text_hash.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace adpipe {

std::string_view TextArena::copy(std::string_view text) {
    if (text.size() > left_) {
        const std::size_t size = std::max(block_size, text.size());
        blocks_.push_back(std::make_unique<char[]>(size));
        next_ = blocks_.back().get();
        left_ = size;
    }
    if (!text.empty()) std::memcpy(next_, text.data(), text.size());
    const std::string_view copied{next_, text.size()};
    next_ += text.size();
    left_ -= text.size();
    return copied;
}

namespace {

struct PendingLiteral {
    VertexId vertex;
    Literal literal;
};

}  // namespace

struct GraphBuilder::Working {
    LargeArray<Edge> edges;
    LargeArray<PendingLiteral> literals;
};

GraphBuilder::GraphBuilder(std::filesystem::path source, std::shared_ptr<const void> text)
    : storage_(std::make_unique<GraphStorage>()), working_(std::make_unique<Working>()) {
    storage_->source = std::move(source);
    storage_->text = std::move(text);
}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::reserve(std::size_t vertices, std::size_t edges) {
    storage_->vertices.reserve(vertices);
    storage_->names.reserve(vertices / 2);  // unlike the others, it is filled at once
    working_->edges.reserve(edges);
}

void GraphBuilder::begin_module(std::string_view name, std::uint32_t line) {
    auto& modules = storage_->modules;
    if (modules.size() >= std::numeric_limits<std::uint16_t>::max()) {
        throw Error("ADP-GRAPH-001", "more than 65,535 graph modules in one text");
    }
    const auto here = static_cast<VertexId>(storage_->vertices.size());
    if (!modules.empty()) modules.back().end = here;
    modules.push_back({std::string{name}, here, here, line});
}

std::string_view GraphBuilder::intern(std::string_view text) { return storage_->arena.copy(text); }

GraphBuilder::Added GraphBuilder::add(const Vertex& vertex) {
    auto& vertices = storage_->vertices;
    if (storage_->modules.empty()) begin_module("(root)", 0);
    if (vertices.size() >= no_vertex / 2) throw Error("ADP-GRAPH-002", "more than 2,147,483,647 vertices in one graph");
    const auto module = static_cast<std::uint16_t>(storage_->modules.size() - 1);
    const std::uint64_t hash = text_hash(vertex.name, module);
    const auto id = static_cast<VertexId>(vertices.size());
    const VertexId known = storage_->names.find_or_insert(hash, id, [&](VertexId v) {
        return vertices[v].module == module && vertices[v].name == vertex.name;
    });
    if (known != no_vertex) return {known, false};
    storage_->digest = mix64(storage_->digest ^ hash, static_cast<std::uint64_t>(vertex.kind));
    Vertex& added = vertices.emplace_back(vertex);
    added.module = module;
    if (added.kind == VertexKind::op) added.op = op_name(added.target);
    return {id, true};
}

VertexId GraphBuilder::find(std::string_view name) const noexcept {
    if (storage_->modules.empty()) return no_vertex;
    const auto& vertices = storage_->vertices;
    const auto module = static_cast<std::uint16_t>(storage_->modules.size() - 1);
    return storage_->names.find(text_hash(name, module),
                                [&](VertexId v) { return vertices[v].module == module && vertices[v].name == name; });
}

const Vertex& GraphBuilder::vertex(VertexId v) const noexcept { return storage_->vertices[v]; }

VertexId GraphBuilder::size() const noexcept { return static_cast<VertexId>(storage_->vertices.size()); }

void GraphBuilder::set_type(VertexId v, std::string_view shape, std::string_view dtype) noexcept {
    storage_->vertices[v].shape = shape;
    storage_->vertices[v].dtype = dtype;
}

void GraphBuilder::connect(VertexId source, VertexId target, std::uint32_t argument, EdgeKind kind) {
    working_->edges.push_back({source, target, argument, 0, kind});
}

void GraphBuilder::literal(VertexId vertex, std::uint32_t argument, std::string_view text) {
    working_->literals.push_back({vertex, {argument, text}});
}

void GraphBuilder::set_may_lack_edges() noexcept { storage_->may_lack_edges = true; }

namespace {

/// Begin offsets of `count` buckets, from the number of items that each holds.
template <class Items, class Key>
std::vector<std::uint32_t> bucket_begins(const Items& items, std::size_t count, Key key) {
    std::vector<std::uint32_t> begin(count + 1, 0);
    for (const auto& item : items) ++begin[key(item) + 1];
    for (std::size_t i = 0; i < count; ++i) begin[i + 1] += begin[i];
    return begin;
}

/// Counting sort: stable, linear.
template <class Items, class Key>
Items bucket_sort(const Items& items, const std::vector<std::uint32_t>& begin, Key key) {
    Items sorted(items.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const auto& item : items) sorted[next[key(item)]++] = item;
    return sorted;
}

void sort_edges(GraphStorage& storage, LargeArray<Edge> edges) {
    const std::size_t n = storage.vertices.size();
    const auto target = [](const Edge& e) { return e.target; };
    storage.in_begin = bucket_begins(edges, n, target);
    // Parsers add the edges of one vertex after the other, so that mostly nothing is left to sort.
    const bool is_sorted = std::is_sorted(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.target < b.target; });
    storage.edges = is_sorted ? std::move(edges) : bucket_sort(edges, storage.in_begin, target);
    const auto before = [](const Edge& a, const Edge& b) { return a.kind != b.kind ? a.kind < b.kind : a.argument < b.argument; };
    for (std::size_t v = 0; v < n; ++v) {
        const auto first = storage.edges.begin() + storage.in_begin[v];
        const auto last = storage.edges.begin() + storage.in_begin[v + 1];
        if (!std::is_sorted(first, last, before)) std::stable_sort(first, last, before);
    }
    for (std::uint32_t i = 0; i < storage.edges.size(); ++i) storage.edges[i].index = i;
    const auto source = [](const Edge& e) { return e.source; };
    storage.out_begin = bucket_begins(storage.edges, n, source);
    storage.out_edges = bucket_sort(storage.edges, storage.out_begin, source);
}

void sort_literals(GraphStorage& storage, LargeArray<PendingLiteral> pending) {
    const auto vertex = [](const PendingLiteral& l) { return l.vertex; };
    storage.literal_begin = bucket_begins(pending, storage.vertices.size(), vertex);
    const bool is_sorted = std::is_sorted(pending.begin(), pending.end(),
                                          [](const PendingLiteral& a, const PendingLiteral& b) { return a.vertex < b.vertex; });
    if (!is_sorted) pending = bucket_sort(pending, storage.literal_begin, vertex);
    storage.literals.reserve(pending.size());
    for (const PendingLiteral& l : pending) storage.literals.push_back(l.literal);
}

/// Of names, ops and types; not of line numbers, nor of addresses in `target`.
std::uint64_t digest_of_vertices(const GraphStorage& storage, std::size_t edges) {
    std::uint64_t hash = mix64(storage.digest ^ storage.vertices.size(), edges);
    for (const GraphModule& module : storage.modules) hash = text_hash(module.name, hash ^ module.begin);
    for (const Vertex& v : storage.vertices) {
        for (const std::string_view text : {v.op, v.shape, v.dtype, v.module_path}) {
            hash = text.empty() ? hash + 1 : text_hash(text, hash);
        }
    }
    return hash;
}

/// Of the edges and literals as well.
std::uint64_t digest_of(const GraphStorage& storage, std::uint64_t of_vertices) {
    std::uint64_t hash = of_vertices;
    for (const Edge& e : storage.edges) {
        hash = mix64(hash ^ (static_cast<std::uint64_t>(e.source) << 32 | e.target), static_cast<std::uint64_t>(e.kind) << 32 | e.argument);
    }
    for (const Literal& l : storage.literals) hash = text_hash(l.text, hash ^ l.argument);
    return hash;
}

/// True for ops whose result shares storage with their first argument: a write through one is seen through the other.
bool is_view(std::string_view op) {
    constexpr std::array<std::string_view, 22> views{"alias",     "as_strided", "chunk",     "detach",
                                                     "diagonal",  "expand",     "expand_as", "flatten",
                                                     "getitem",   "narrow",     "permute",   "reshape",
                                                     "select",    "slice",      "split",     "split_with_sizes",
                                                     "squeeze",   "transpose",  "unbind",    "unflatten",
                                                     "unsqueeze", "view"};
    const std::size_t dot = op.find('.');
    std::string_view bare = dot == std::string_view::npos ? op : op.substr(dot + 1);
    bare = bare.substr(0, bare.find('.'));
    return std::binary_search(views.begin(), views.end(), bare);
}

/// An op that writes its operand in place makes every later reader, and the next writer, of that operand depend on it. Views of an
/// operand are the same storage.
class MemoryEdges {
public:
    MemoryEdges(const GraphStorage& storage, LargeArray<Edge>& edges) : storage_(storage), edges_(edges) {}

    void add() {
        if (!mark_writes()) return;
        by_target_begin_ = bucket_begins(edges_, storage_.vertices.size(), [](const Edge& e) { return e.target; });
        by_target_ = bucket_sort(edges_, by_target_begin_, [](const Edge& e) { return e.target; });
        last_writer_.assign(storage_.vertices.size(), no_vertex);
        base_.resize(storage_.vertices.size());
        for (VertexId v = 0; v < storage_.vertices.size(); ++v) visit(v);
    }

private:
    bool mark_writes() {
        bool any = false;
        writes_.resize(storage_.vertices.size());
        for (VertexId v = 0; v < storage_.vertices.size(); ++v) {
            if (storage_.vertices[v].kind != VertexKind::op) continue;
            writes_[v] = in_place_arguments(storage_.vertices[v].op);
            any = any || !writes_[v].empty();
        }
        return any;
    }

    void visit(VertexId v) {
        base_[v] = v;
        for (std::uint32_t i = by_target_begin_[v]; i < by_target_begin_[v + 1]; ++i) {
            const Edge& use = by_target_[i];
            const VertexId writer = last_writer_[base_[use.source]];
            // What was made after the write, from what the write left, needs no edge of its own.
            const bool is_later = writer != no_vertex && writer != v && use.source < writer;
            if (is_later) edges_.push_back({writer, v, use.argument, 0, EdgeKind::memory});
            if (use.argument == 0 && is_view(storage_.vertices[v].op)) base_[v] = base_[use.source];
        }
        for (std::uint32_t i = by_target_begin_[v]; i < by_target_begin_[v + 1]; ++i) {
            const Edge& use = by_target_[i];
            const auto& written = writes_[v];
            if (std::find(written.begin(), written.end(), use.argument) != written.end()) last_writer_[base_[use.source]] = v;
        }
    }

    const GraphStorage& storage_;
    LargeArray<Edge>& edges_;
    std::vector<std::span<const std::uint8_t>> writes_;
    LargeArray<Edge> by_target_;
    std::vector<std::uint32_t> by_target_begin_;
    std::vector<VertexId> last_writer_;  ///< by base
    std::vector<VertexId> base_;         ///< by vertex: the one whose storage it shares
};

}  // namespace

std::shared_ptr<const GraphModel> GraphBuilder::freeze() {
    if (!storage_->modules.empty()) storage_->modules.back().end = static_cast<VertexId>(storage_->vertices.size());
    MemoryEdges(*storage_, working_->edges).add();
    constexpr std::size_t worth_a_thread = 10'000;
    const auto digest = [&storage = std::as_const(*storage_), edges = working_->edges.size()] {
        return digest_of_vertices(storage, edges);
    };
    Beside<std::uint64_t> of_vertices(digest, storage_->vertices.size() >= worth_a_thread);
    sort_edges(*storage_, std::move(working_->edges));
    sort_literals(*storage_, std::move(working_->literals));
    working_.reset();
    storage_->digest = digest_of(*storage_, of_vertices.get());
    return std::make_shared<const GraphModel>(std::move(storage_));
}

}  // namespace adpipe
