#pragma once

#include "arguments.hpp"
#include "findings.hpp"
#include "graph_text.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <string_view>

namespace adpipe::parse {

/// Reads the lines of one GraphModule of an AutoDeploy dump into a graph.
class AutodeployBody {
public:
    AutodeployBody(GraphBuilder& builder, Findings& findings);

    void read(const ModuleText& module);

private:
    void line(const char* begin, const char* end);
    void comment(std::string_view text);
    void definition();
    void remember(std::string_view name);
    void placeholder(std::string_view name);
    void call(std::string_view name);
    void output();
    void define(const Vertex& vertex, const char* at);
    void end_module(const ModuleText& module);

    bool call_target(std::string_view& target);
    bool call_arguments(char closing);
    bool argument(std::uint32_t position);
    bool vertex_argument(std::uint32_t position);
    bool list_argument(std::uint32_t position);
    bool text_argument(std::uint32_t position);
    bool argument_type(std::string_view& shape, std::string_view& dtype);
    bool result_type(std::string_view& shape, std::string_view& dtype);
    VertexId use(std::string_view name, std::string_view shape, std::string_view dtype);
    VertexId resolve(const Word& word, bool is_opaque);
    bool fail(const char* code, const char* at, std::string message);

    void check_weights();
    void warn_of_missing_ops();

    struct Resolver {
        AutodeployBody* body;
        VertexId operator()(const Word& word, bool is_opaque) const { return body->resolve(word, is_opaque); }
    };

    GraphBuilder& builder_;
    Findings& findings_;
    Arguments arguments_;
    Fault fault_;
    ListReader<Resolver> list_reader_;
    std::string_view module_;         // name of the module that is read
    const char* begin_ = nullptr;     // of the line
    const char* at_ = nullptr;        // how far the line is read
    const char* end_ = nullptr;       // of the line
    std::uint32_t number_ = 0;        // of the line
    VertexId first_vertex_ = 0;       // of the module
    std::vector<VertexId> doubtful_;  // weights of the module whose names do not end as weights' do
    VertexId output_ = no_vertex;
    std::uint32_t comments_ = 0;
};

}  // namespace adpipe::parse
