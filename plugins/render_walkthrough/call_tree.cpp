#include "call_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace adpipe::walkthrough {

namespace {

constexpr std::string_view module_prefix = "nn.Module: ";

/// What frames that are merged have in common: of a module its name without the number at its end.
std::string merge_key(const std::string& frame) {
    if (std::string_view{frame}.substr(0, module_prefix.size()) != module_prefix) return frame;
    std::size_t end = frame.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(frame[end - 1])) != 0) --end;
    const bool numbered = end < frame.size() && end > 0 && frame[end - 1] == '_';
    return numbered ? frame.substr(0, end) : frame;
}

class TreeMaker {
public:
    TreeMaker(const Trace& trace, const LaunchSites& sites) : trace_{trace}, sites_{sites} {}

    void add(std::uint32_t kernel) {
        const LaunchSite site = sites_.of(kernel);
        const Nanoseconds duration = trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
        TreeNode* node = &root_;
        count(*node, duration);
        for (const std::string& frame : site.frames) node = child(*node, frame, false, duration);
        if (!site.op.empty()) node = child(*node, site.op, true, duration);
        const StringId name = trace_.kernels.name[kernel];
        const auto found = std::find_if(node->launched.begin(), node->launched.end(), [&](const TreeKernel& k) { return k.name == name; });
        TreeKernel& launched = found == node->launched.end() ? node->launched.emplace_back(TreeKernel{name, kernel, 0, 0}) : *found;
        ++launched.count;
        launched.total += duration;
    }
    TreeNode take() { return std::move(root_); }

private:
    static void count(TreeNode& node, Nanoseconds duration) {
        ++node.kernels;
        node.total += duration;
    }

    TreeNode* child(TreeNode& node, const std::string& text, bool is_operator, Nanoseconds duration) {
        auto& slot = index_[{&node, is_operator, merge_key(text)}];
        if (slot == nullptr) {
            node.children.push_back(std::make_unique<TreeNode>());
            slot = node.children.back().get();
            slot->text = text;
            slot->is_operator = is_operator;
        }
        if (std::find(slot->instances.begin(), slot->instances.end(), text) == slot->instances.end()) slot->instances.push_back(text);
        count(*slot, duration);
        return slot;
    }

    const Trace& trace_;
    const LaunchSites& sites_;
    TreeNode root_;
    std::map<std::tuple<const TreeNode*, bool, std::string>, TreeNode*> index_;
};

}  // namespace

TreeNode call_tree(const Trace& trace, const std::vector<std::uint32_t>& kernels, const LaunchSites& sites) {
    TreeMaker maker{trace, sites};
    for (const std::uint32_t kernel : kernels) maker.add(kernel);
    return maker.take();
}

std::string node_title(const TreeNode& node) {
    if (node.instances.size() < 2) return node.text;
    const std::string& last = node.instances.back();
    const std::string number = last.substr(merge_key(last).size());
    return fmt::format("{} … {} ({} modules)", node.text, number, node.instances.size());
}

}  // namespace adpipe::walkthrough
