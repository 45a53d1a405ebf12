#pragma once

#include <pthread.h>
#include <sched.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace adpipe {

/// Work on another processor while the caller goes on; done by get() itself where there is no other. A thread that is started the usual way may
/// wait for the processor of its creator until that one's time slice ends, even where another is idle (measured on Linux 6.18: 1 to 2 ms, against
/// 0.03 ms this way), and most of the work here takes less. Not to be moved while it runs, hence not at all.
template <class Result>
class Beside {
public:
    /// `is_long`: false for work that is not worth a thread.
    explicit Beside(std::function<Result()> work, bool is_long = true) : work_(std::move(work)) {
        cpu_set_t all;
        const int own = ::sched_getcpu();
        if (!is_long || own < 0 || own >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof all, &all) != 0) return;
        cpu_set_t others = all;
        CPU_CLR(own, &others);
        if (CPU_COUNT(&others) == 0) return;
        pthread_attr_t attributes;
        if (::pthread_attr_init(&attributes) != 0) return;
        is_running_ = ::pthread_attr_setaffinity_np(&attributes, sizeof others, &others) == 0 &&
                      ::pthread_create(&thread_, &attributes, &Beside::run, this) == 0;
        ::pthread_attr_destroy(&attributes);
        // It was to begin elsewhere, not to have to: where the others turn out to be busy, it may come here once the caller waits. If it has ended
        // already, this sets the caller's own processors to what they are.
        if (is_running_) (void)::pthread_setaffinity_np(thread_, sizeof all, &all);
    }
    ~Beside() {
        if (is_running_) ::pthread_join(thread_, nullptr);
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    /// Waits for the work. Throws what it threw, each time.
    Result& get() {
        finish();
        if (error_) std::rethrow_exception(error_);
        return *value_;
    }

private:
    static void* run(void* self) {
        static_cast<Beside*>(self)->work();
        return nullptr;
    }
    void work() noexcept {
        try {
            value_.emplace(work_());
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void finish() {
        if (is_running_) ::pthread_join(thread_, nullptr);
        else if (!value_ && !error_) work();
        is_running_ = false;
    }

    std::function<Result()> work_;
    std::optional<Result> value_;
    std::exception_ptr error_;
    pthread_t thread_{};
    bool is_running_ = false;
};

}  // namespace adpipe
