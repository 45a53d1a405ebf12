#pragma once

#include "arguments.hpp"
#include "findings.hpp"
#include "fx_statement.hpp"
#include "fx_types.hpp"
#include "graph_text.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adpipe::parse {

/// Names of forward's arguments that are weights, with the attribute path of each: from the signature of an exported program.
using WeightPaths = std::map<std::string_view, std::string_view>;

/// Reads the forward method of one class, as torch.fx prints it, into a graph.
class FxBody {
public:
    /// `modules` are all classes of the text: what is fetched from self by the name of one is no weight.
    FxBody(GraphBuilder& builder, Findings& findings, const std::vector<ModuleText>& modules, const WeightPaths& weights);

    void read(const ModuleText& module);

private:
    struct Parameter {
        std::string_view name;
        std::string_view annotation;
        std::string_view path;  // of a weight, where a comment gives it
    };
    /// "x[0] = y" or "x += y", which the next statement, "setitem = x", names.
    struct InPlace {
        std::string_view operand;  // empty: there is none
        std::string_view target;
        Arguments arguments;
    };

    // fx_body.cpp: statements
    bool read_forward(std::string_view text);
    void read_parameters(std::string_view text);
    void add_parameter(std::string_view text);
    void define_parameters();
    void statement(std::string_view text);
    void comment(std::string_view text);
    void unpacking(std::string_view names);
    void assignment(std::string_view name, std::string_view annotation, std::string_view expression);
    void begin_in_place(std::string_view operand, std::string_view target, std::string_view item, std::string_view value);
    void finish_in_place(std::string_view name, FxType type);
    bool deletion(std::string_view text);
    void declaration(std::string_view name, std::string_view annotation);
    void output(std::string_view expression);
    void end_module(const ModuleText& module);
    void define(Vertex vertex);
    void count_lines_to(const char* at);
    bool fail(const char* code, const char* at, std::string message);

    // fx_expression.cpp: the right-hand side
    bool expression(std::string_view text, Vertex& vertex);
    bool fetched(std::string_view text, const std::string& path, std::size_t end, Vertex& vertex);
    bool call(std::string_view text, const Word& callee, Vertex& vertex);
    bool attribute(const Word& word, Vertex& vertex);
    bool item(std::string_view text, const Word& owner, Vertex& vertex);
    bool operation(std::string_view text, Vertex& vertex);
    bool arguments(std::string_view list, std::uint32_t position);
    bool argument(std::string_view text, std::uint32_t position);
    void find_names(std::string_view text, std::uint32_t position);
    bool list(std::string_view text, std::uint32_t position, std::size_t& end);
    VertexId find(std::string_view name) const;
    VertexId resolve(const Word& word, bool is_opaque);

    struct Resolver {
        FxBody* body;
        VertexId operator()(const Word& word, bool is_opaque) const { return body->resolve(word, is_opaque); }
    };

    GraphBuilder& builder_;
    Findings& findings_;
    const std::vector<ModuleText>& modules_;
    const WeightPaths& weights_;
    FxTypes types_;
    Arguments arguments_;
    Fault fault_;
    ListReader<Resolver> list_reader_;
    std::unordered_map<std::string_view, VertexId> aliases_;  // second names: "l_x_ = L_x_"
    std::vector<Parameter> parameters_;                       // until the first statement that is no part of the signature
    InPlace in_place_;
    std::string_view module_;
    std::string_view module_path_;   // of the statements that follow, from the last comment
    std::uint32_t number_ = 0;       // of the line
    const char* counted_ = nullptr;  // up to where lines are counted
    VertexId first_vertex_ = 0;      // of the module
    VertexId output_ = no_vertex;
};

}  // namespace adpipe::parse
