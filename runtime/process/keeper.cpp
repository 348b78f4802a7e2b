#include "runtime/process/keeper.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <future>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/process/pidfd.hpp"

namespace troupe::detail {

namespace {

constexpr std::chrono::seconds reaped_within{2};

child_end describe(const siginfo_t& about, bool by_parent) {
  child_end end;
  end.killed = about.si_code != CLD_EXITED;
  end.code = about.si_status;
  if (!end.killed) {
    end.why = "ended with exit code " + std::to_string(end.code);
    return end;
  }
  const char* name = sigdescr_np(end.code);
  const std::string meaning = end.code != SIGKILL ? (name ? name : "unknown")
                              : by_parent         ? "by its parent"
                                                  : "by hand or for want of memory";
  end.why = "was killed by signal " + std::to_string(end.code) + " (" + meaning + ")";
  return end;
}

}  // namespace

/// Starts processes, notices their ends and has them reaped.
class keeper {
 public:
  using entry = std::shared_ptr<kept_process>;

  static keeper& of_this_process() {
    static keeper it;
    return it;
  }
  /// True once this process has started another one.
  static inline std::atomic<bool> is_made = false;

  ~keeper() { end_all(); }

  void end_all() {
    const auto wait = [this](std::chrono::milliseconds limit) {
      std::unique_lock lock(mutex_);
      none_left_.wait_for(lock, limit, [this] { return alive_.empty(); });
      return std::vector<entry>(alive_.begin(), alive_.end());
    };
    for (const auto& left : wait({})) left->let_go();
    for (const auto& left : wait(kept_process::grace)) left->kill();
    wait(reaped_within);
  }

  void start(const entry& made, const std::function<pid_t()>& spawn) {
    const auto start = [&] {
      made->pid_ = spawn();
      try {
        made->process_ = descriptor(pidfd_open(made->pid_, 0), "watch a child");
        made->watched_ = loop_.watch(made->process_.number(), EPOLLIN, made);
      } catch (...) {
        ::kill(made->pid_, SIGKILL);
        waitpid(made->pid_, nullptr, 0);
        throw;
      }
      std::lock_guard lock(mutex_);
      alive_.insert(made);
    };
    if (loop_.is_this_thread()) return start();
    std::packaged_task<void()> task(start);
    loop_.post([&task] { task(); });
    task.get_future().get();
  }

  /// Called on the keeper's thread. The reaper does the rest, because reaping can take the kernel a
  /// tenth of a second, in which other processes start and end.
  void ended(const entry& which) {
    loop_.forget(which->watched_);
    reaper_.post([this, which] {
      which->reap();
      std::lock_guard lock(mutex_);
      alive_.erase(which);
      if (alive_.empty()) none_left_.notify_all();
    });
  }

  void kill_later(const entry& which) {
    loop_.post_after(kept_process::grace, [which = std::weak_ptr(which)] {
      if (const auto still = which.lock()) still->kill();
    });
  }

 private:
  keeper() {
    io_loop();  // It is made first, so that it lives longer.
    is_made = true;
  }

  std::mutex mutex_;
  std::condition_variable none_left_;
  std::unordered_set<entry> alive_;
  event_loop reaper_{"troupe-reaper"};
  event_loop loop_{"troupe-keeper"};
};

void end_kept_processes() {
  if (keeper::is_made) keeper::of_this_process().end_all();
}

void kept_process::start(const std::function<pid_t()>& spawn) {
  keeper::of_this_process().start(shared_from_this(), spawn);
}

void kept_process::kill_later() { keeper::of_this_process().kill_later(shared_from_this()); }

void kept_process::ready(std::uint32_t) {
  siginfo_t about{};
  const int known =
      waitid(P_PIDFD, static_cast<id_t>(process_.number()), &about, WEXITED | WNOHANG | WNOWAIT);
  if (known == 0 && about.si_pid == 0) return;
  std::string why;
  {
    std::lock_guard lock(mutex_);
    end_ = known == 0 ? describe(about, killed_)
                      : child_end{.why = "ended, and this program reaped it elsewhere"};
    why = end_->why;
  }
  ended("process " + std::to_string(pid_) + " " + why);
  keeper::of_this_process().ended(shared_from_this());
}

void kept_process::reap() {
  siginfo_t about{};
  // While the process is a zombie, no other process can have its number, so everything that it
  // started can be killed.
  if (waitid(P_PIDFD, static_cast<id_t>(process_.number()), &about, WEXITED | WNOHANG | WNOWAIT) ==
      0) {
    ::kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, WNOHANG);
  }
  process_ = descriptor();
  if (const auto callback = std::exchange(told_, nullptr)) callback(*end_);
}

void kept_process::kill() {
  std::lock_guard lock(mutex_);
  if (end_) return;
  killed_ = true;
  pidfd_send_signal(process_.number(), SIGKILL, nullptr, 0);
}

void kept_process::send_signal(int number) {
  std::lock_guard lock(mutex_);
  if (!end_) pidfd_send_signal(process_.number(), number, nullptr, 0);
}

}  // namespace troupe::detail
