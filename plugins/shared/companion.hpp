#pragma once

#include "launch_site.hpp"

#include "../align_evidence/pair_alignment.hpp"

#include <adpipe/kernel_names.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::launches {

/// Another recording of the same model, which knows where its kernels were launched from: the capture of the graphs, or
/// passes launched kernel by kernel. A step whose kernels run in the same order is laid beside its passes, and what is
/// known of a kernel there holds for the one in its place.
class Companion {
public:
    Companion(std::shared_ptr<const Window> window, const KernelNames& names);

    /// Per kernel of a step (in the order in which they were launched), what the companion knows of the one in its
    /// place; nothing where that is not certain.
    std::vector<std::optional<LaunchSite>> sites_of(const Trace& trace, const std::vector<std::uint32_t>& kernels) const;
    const std::string& name() const noexcept { return name_; }

private:
    /// One kernel of a pass: a call that put it into a graph, or one that ran.
    struct Member {
        bool captured;
        std::uint32_t index;  ///< of the call, or of the kernel
    };
    struct Pass {
        std::vector<align::PairItem> items;
        std::vector<Member> members;
    };

    void add_captures();
    void add_steps();
    align::PairItem item(const std::string& name, KernelKind kind) const;
    LaunchSite site_of(const Member& member) const;

    std::shared_ptr<const Window> window_;
    const KernelNames& names_;
    LaunchSites sites_;
    std::string name_;
    std::vector<Pass> passes_;
    mutable std::map<std::pair<std::string, KernelKind>, align::PairItem> items_;
    mutable std::map<std::string, std::uint32_t> rules_;
};

}  // namespace adpipe::launches
