#include "graph_text.hpp"

#include <cctype>
#include <stdexcept>

namespace adpipe::member {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Reads the notation line by line into a GraphBuilder.
class Reader {
public:
    explicit Reader(std::string_view text) : owned_(std::make_shared<std::string>(text)), builder_("test", owned_) {}

    std::shared_ptr<const GraphModel> read() {
        std::string_view rest = *owned_;
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            ++number_;
            line(trim(rest.substr(0, end)));
            rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        }
        return builder_.freeze();
    }

private:
    void line(std::string_view text) {
        if (text.empty()) return;
        const std::size_t equals = text.find(" = ");
        if (text.substr(0, 7) == "module ") return builder_.begin_module(text.substr(7), number_);
        if (text.substr(0, 4) == "out ") return call("output", {}, text.substr(4), VertexKind::output);
        if (text.back() == ':') return call(text.substr(0, text.size() - 1), {}, {}, VertexKind::placeholder);
        if (equals == std::string_view::npos) throw std::invalid_argument("not a line: " + std::string{text});
        const std::string_view value = text.substr(equals + 3);
        const std::size_t open = value.find('(');
        const std::size_t close = value.rfind(')');
        shape_ = close + 4 < value.size() ? value.substr(close + 4) : std::string_view{};
        call(text.substr(0, equals), value.substr(0, open), value.substr(open + 1, close - open - 1), VertexKind::op);
        shape_ = {};
    }

    void call(std::string_view name, std::string_view target, std::string_view arguments, VertexKind kind) {
        struct Use {
            VertexId source;
            std::uint32_t position;
        };
        std::vector<Use> uses;
        std::vector<Literal> literals;
        for (std::uint32_t position = 0; !arguments.empty(); ++position) {
            const std::size_t comma = arguments.find(',');
            const std::string_view argument = trim(arguments.substr(0, comma));
            arguments = comma == std::string_view::npos ? std::string_view{} : arguments.substr(comma + 1);
            if (argument.front() == '$') {
                Vertex weight;
                weight.name = argument.substr(1);
                weight.kind = VertexKind::weight;
                weight.line = number_;
                uses.push_back({builder_.add(weight).vertex, position});
            } else if (builder_.find(argument) != no_vertex) {
                uses.push_back({builder_.find(argument), position});
            } else if (std::isalpha(static_cast<unsigned char>(argument.front())) != 0 && argument != "None" &&
                       argument.find('.') == std::string_view::npos) {
                throw std::invalid_argument("not defined: " + std::string{argument});
            } else {
                literals.push_back({position, argument});
            }
        }
        Vertex vertex;
        vertex.name = name;
        vertex.target = target;
        vertex.kind = kind;
        vertex.line = number_;
        vertex.shape = shape_;
        const VertexId id = builder_.add(vertex).vertex;
        for (const Use& use : uses) builder_.connect(use.source, id, use.position);
        for (const Literal& literal : literals) builder_.literal(id, literal.argument, literal.text);
    }

    std::shared_ptr<const std::string> owned_;
    GraphBuilder builder_;
    std::uint32_t number_ = 0;
    std::string_view shape_;  ///< of the op at hand
};

void replace_all(std::string& text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

}  // namespace

std::shared_ptr<const GraphModel> graph_of(std::string_view text) { return Reader(text).read(); }

Rules common_rules() {
    Rules rules;
    rules.add_file(ADPIPE_COMMON_RULES);
    return rules;
}

std::string in_layer(std::string_view text, int layer) {
    std::string result{text};
    replace_all(result, "{n}", std::to_string(layer));
    replace_all(result, "{p}", std::to_string(layer - 1));
    return result;
}

Members::Members(std::string_view text, NameUse names)
    : graph_(graph_of(text)), layers_(members_by_dataflow(*graph_, common_rules(), names, notes_)) {}

const Membership& Members::of(std::string_view node) const {
    const auto v = graph_->find(node);
    if (!v) throw std::invalid_argument("no such node: " + std::string{node});
    return layers_.of[*v];
}

std::string Members::layer(std::string_view node) const { return layer_text(of(node).layer); }
std::string Members::also(std::string_view node) const { return layer_text(of(node).also); }
std::string Members::stack(std::string_view node) const { return layers_.text(of(node).stack); }
std::string Members::reason(std::string_view node) const { return layers_.text(of(node).reason); }

std::string Members::group(std::string_view node) const {
    const Membership& member = of(node);
    const std::string& sub_group = layers_.text(member.sub_group);
    return std::string{group_text(member.group)} + (sub_group.empty() ? "" : "/" + sub_group);
}

std::vector<std::string> Members::boundary(LayerId layer) const {
    std::vector<std::string> names;
    const Layer* found = layers_.find(layer);
    if (found == nullptr) return names;
    for (const VertexId v : found->boundary_out) names.emplace_back(graph_->vertex(v).name);
    return names;
}

}  // namespace adpipe::member
