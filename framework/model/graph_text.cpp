#include <adpipe/testing/graph_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace adpipe::testing {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

/// Splits at `separator` where no bracket is open.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(' || text[i] == '[') ++depth;
        if (text[i] == ')' || text[i] == ']') --depth;
        if (depth == 0 && text.substr(i, separator.size()) == separator) {
            parts.push_back(trimmed(text.substr(begin, i - begin)));
            begin = i + separator.size();
            i = begin - 1;
        }
    }
    parts.push_back(trimmed(text.substr(begin)));
    return parts;
}

class GraphText {
public:
    explicit GraphText(std::string_view text) : text_{std::make_shared<std::string>(text)}, builder_{"test", text_} {}

    std::shared_ptr<const GraphModel> read() {
        builder_.begin_module("(root)", 1);
        for (std::string_view rest = *text_; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            ++line_;
            read_line(trimmed(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return builder_.freeze();
    }

private:
    [[noreturn]] void fail(std::string_view what) const { throw std::invalid_argument(fmt::format("line {}: {}", line_, what)); }

    void read_line(std::string_view line) {
        if (line.empty() || line.front() == '#') return;
        if (line.substr(0, 7) == "module ") return builder_.begin_module(trimmed(line.substr(7)), line_);
        if (const auto chain = split(line, " -> "); chain.size() > 1) return read_chain(chain);
        if (line.substr(0, 7) == "output(") return read_call("output", line, VertexKind::output);
        const std::size_t equals = line.find(" = ");
        if (equals == std::string_view::npos) fail("expected name = target(…), a -> b, output(…) or module NAME");
        const std::string_view name = trimmed(line.substr(0, equals));
        const std::string_view value = trimmed(line.substr(equals + 3));
        if (value.substr(0, 11) != "placeholder") return read_call(name, value, VertexKind::op);
        Vertex vertex = named(name, VertexKind::placeholder);
        set_type(vertex, value.substr(11));
        add(vertex);
    }

    void read_chain(const std::vector<std::string_view>& names) {
        VertexId before = no_vertex;
        for (const std::string_view name : names) {
            VertexId vertex = builder_.find(name);
            const bool is_new = vertex == no_vertex;
            if (is_new) {
                Vertex op = named(name, VertexKind::op);
                op.target = "op";
                vertex = add(op);
            } else if (before != no_vertex) {
                fail("an arrow leads to a vertex that was there before");
            }
            if (before != no_vertex) builder_.connect(before, vertex, 0);
            before = vertex;
        }
    }

    /// "target(arguments) : shape : dtype"
    void read_call(std::string_view name, std::string_view call, VertexKind kind) {
        const std::size_t open = call.find('(');
        if (open == std::string_view::npos) fail("expected target(…)");
        const std::size_t close = closing(call, open);
        Vertex vertex = named(name, kind);
        if (kind == VertexKind::op) vertex.target = call.substr(0, open);
        set_type(vertex, call.substr(close + 1));
        struct Use {
            VertexId source;
            std::uint32_t argument;
        };
        std::vector<Use> uses;
        std::vector<std::pair<std::uint32_t, std::string_view>> literals;
        const std::string_view inside = call.substr(open + 1, close - open - 1);
        std::uint32_t position = 0;
        for (const std::string_view argument : inside.empty() ? std::vector<std::string_view>{} : split(inside, ",")) {
            const bool is_list = argument.size() >= 2 && argument.front() == '[' && argument.find('%') != std::string_view::npos;
            const auto elements = is_list ? split(argument.substr(1, argument.size() - 2), ",") : std::vector{argument};
            for (const std::string_view element : elements) {
                if (!element.empty() && element.front() == '%') {
                    uses.push_back({used(element.substr(1)), position});
                } else {
                    literals.emplace_back(position, element);
                }
            }
            ++position;
        }
        const VertexId target = add(vertex);
        for (const Use& use : uses) builder_.connect(use.source, target, use.argument);
        for (const auto& [at, text] : literals) builder_.literal(target, at, text);
    }

    std::size_t closing(std::string_view call, std::size_t open) const {
        int depth = 0;
        for (std::size_t i = open; i < call.size(); ++i) {
            if (call[i] == '(') ++depth;
            if (call[i] == ')' && --depth == 0) return i;
        }
        fail("a bracket is not closed");
    }

    /// The vertex "name" or "name : shape : dtype"; a weight if it is new.
    VertexId used(std::string_view text) {
        const std::string_view name = trimmed(text.substr(0, std::min(text.find(" : "), text.size())));
        if (const VertexId known = builder_.find(name); known != no_vertex) return known;
        Vertex weight = named(name, VertexKind::weight);
        set_type(weight, text.substr(name.size()));
        return add(weight);
    }

    Vertex named(std::string_view name, VertexKind kind) const {
        if (name.empty() || name.find_first_of(" ()[],%") != std::string_view::npos) fail("expected a name");
        Vertex vertex;
        vertex.name = name;
        vertex.kind = kind;
        vertex.line = line_;
        return vertex;
    }

    /// " : shape : dtype"
    static void set_type(Vertex& vertex, std::string_view text) {
        const auto parts = split(text, " : ");
        if (parts.size() > 1) vertex.shape = parts[1];
        if (parts.size() > 2) vertex.dtype = parts[2];
    }

    VertexId add(const Vertex& vertex) {
        const auto added = builder_.add(vertex);
        if (!added.is_new) fail(fmt::format("'{}' is there twice", vertex.name));
        return added.vertex;
    }

    std::shared_ptr<const std::string> text_;
    GraphBuilder builder_;
    std::uint32_t line_ = 0;
};

}  // namespace

std::shared_ptr<const GraphModel> graph_from_text(std::string_view text) { return GraphText{text}.read(); }

}  // namespace adpipe::testing
