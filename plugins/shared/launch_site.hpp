#pragma once

// Where a kernel was launched from: the operator with what it was called with, and the program's ranges and frames
// around it.

#include <adpipe/model/trace_index.hpp>
#include <adpipe/model/window.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace adpipe::launches {

/// One operand that is no scalar, as it is shown: "8×2048 bf16".
struct Operand {
    std::vector<std::int64_t> shape;  ///< empty where the profiler wrote something else than a list of numbers
    std::string text;
    int bytes = 0;  ///< per element; 0: not known
};

struct LaunchSite {
    bool replayed = false;            ///< by the launch of a whole graph: what is known is where that was launched
    std::string call;                 ///< "cudaLaunchKernelExC"; empty: the trace has no call for it
    std::string op;                   ///< innermost operator; empty: none was recorded
    std::vector<Operand> operands;    ///< of that operator
    std::vector<std::string> frames;  ///< "attention.py(88): forward", "nn.Module: Attention"; the outermost first
    std::vector<std::string> ranges;  ///< that the program set (NVTX, record_function), the outermost first
    std::string companion;            ///< name of the other recording that all but `call` is from: of the kernel that stands in
                                      ///< its place there
};

class Companion;

/// Keeps references to the window and the companion. Not to be read from several threads.
class LaunchSites {
public:
    /// `companion`: another recording that is asked for what this one does not know, or nullptr.
    LaunchSites(const Window& window, const Companion* companion);
    LaunchSite of(std::uint32_t kernel) const;
    /// The operator alone, by this recording alone: in Trace::strings; 0: none is known.
    StringId op_of(std::uint32_t kernel) const;
    /// Of a call, whatever it launched; index into Trace::launches.
    LaunchSite of_call(std::uint32_t launch) const;

private:
    /// The innermost range, and the `time` on the host that it is looked for at.
    std::uint32_t range_of(std::uint32_t kernel, LaunchSite& site, Nanoseconds& time) const;

    void follow(std::uint32_t range, Nanoseconds time, LaunchSite& site) const;
    const LaunchSite* in_companion(std::uint32_t kernel, std::uint32_t step) const;

    const Window& window_;
    const Trace& trace_;
    RangeIndex ranges_;
    LaunchIndex launches_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_external_;  ///< operators; RangeIndex::none where several have the id
    const Companion* companion_;
    mutable std::unordered_map<std::uint32_t, std::vector<std::optional<LaunchSite>>>
        of_step_;  ///< what the companion knows of a step's kernels
};

/// Operands from what the profiler wrote: `shapes` "[[8, 2048], []]", `types` "[\"c10::BFloat16\", \"Scalar\"]".
std::vector<Operand> operands_of(std::string_view shapes, std::string_view types);

/// A frame as it is shown: without the address of an object.
std::string frame_text(const std::string& name);
/// True for frames that every call of a module passes through.
bool is_machinery(std::string_view frame);

/// A frame "file.py(88): forward" in parts; `line` is 0 and `file` empty where it is of another form.
struct Frame {
    std::string file;
    std::uint32_t line = 0;
    std::string function;
};
Frame frame_of(std::string_view text);

}  // namespace adpipe::launches
