#include "runtime/process/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <unordered_set>

#include "runtime/net/event_loop.hpp"
#include "runtime/process/pidfd.hpp"
#include "runtime/process/socket_link.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t arena_size = 256 << 20;  // The size for each direction; the memory is sparse.
// A child's sockets close a moment before its end is known.
constexpr std::chrono::milliseconds end_known_within{1000};
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

/// The state of one child, used by the keeper.
struct child_state final : event_loop::handler, std::enable_shared_from_this<child_state> {
  /// Checks whether the child has ended. Called on the keeper's thread.
  void ready(std::uint32_t events) override;
  /// Reaps the child after its end. Called on the reaper's thread.
  void reap();
  void kill();

  pid_t pid = 0;
  std::shared_ptr<socket_link> way;
  child::on_end told;

  std::mutex mutex;
  descriptor process;  // The pidfd, until the child is reaped.
  event_loop::key watched = 0;
  bool killed = false;
  std::optional<child_end> end;
};

namespace {

/// Starts children, notices their ends and has them reaped. The kernel kills a child when the
/// thread that started it ends, so this thread lives as long as the process.
class keeper {
 public:
  using entry = std::shared_ptr<child_state>;

  static keeper& of_this_process() {
    static keeper it;
    return it;
  }

  ~keeper() {
    const auto wait = [this](std::chrono::milliseconds limit) {
      std::unique_lock lock(mutex_);
      none_left_.wait_for(lock, limit, [this] { return alive_.empty(); });
      return std::vector<entry>(alive_.begin(), alive_.end());
    };
    for (const auto& left : wait({})) left->way->close("the program ends");
    for (const auto& left : wait(child::grace)) left->kill();
    wait(reaped_within);
  }

  void start(const entry& made, const child_options& options, const descriptor& socket,
             const descriptor& memory) {
    const auto start = [&] {
      made->pid = spawn_child(options, socket, memory);
      try {
        made->process = descriptor(pidfd_open(made->pid, 0), "watch a child");
        made->watched = loop_.watch(made->process.number(), EPOLLIN, made);
      } catch (...) {
        ::kill(made->pid, SIGKILL);
        waitpid(made->pid, nullptr, 0);
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
  /// tenth of a second, in which other children start and end.
  void ended(const entry& which) {
    loop_.forget(which->watched);
    reaper_.post([this, which] {
      which->reap();
      std::lock_guard lock(mutex_);
      alive_.erase(which);
      if (alive_.empty()) none_left_.notify_all();
    });
  }

  void kill_later(const entry& which) {
    loop_.post_after(child::grace, [which = std::weak_ptr(which)] {
      if (const auto still = which.lock()) still->kill();
    });
  }

 private:
  keeper() { io_loop(); }  // The io loop is made first, so that it lives longer.

  std::mutex mutex_;
  std::condition_variable none_left_;
  std::unordered_set<entry> alive_;
  event_loop reaper_{"troupe-reaper"};
  event_loop loop_{"troupe-keeper"};
};

}  // namespace

void child_state::ready(std::uint32_t) {
  siginfo_t about{};
  const int known =
      waitid(P_PIDFD, static_cast<id_t>(process.number()), &about, WEXITED | WNOHANG | WNOWAIT);
  if (known == 0 && about.si_pid == 0) return;
  {
    std::lock_guard lock(mutex);
    end = known == 0 ? describe(about, killed)
                     : child_end{.why = "ended, and this program reaped it elsewhere"};
  }
  way->no_more("process " + std::to_string(pid) + " " + end->why);
  keeper::of_this_process().ended(shared_from_this());
}

void child_state::reap() {
  siginfo_t about{};
  // While the child is a zombie, no other process can have its number, so everything that it
  // started can be killed.
  if (waitid(P_PIDFD, static_cast<id_t>(process.number()), &about, WEXITED | WNOHANG | WNOWAIT) ==
      0) {
    ::kill(-pid, SIGKILL);
    waitpid(pid, nullptr, WNOHANG);
  }
  process = descriptor();
  if (const auto callback = std::exchange(told, nullptr)) callback(*end);
}

void child_state::kill() {
  std::lock_guard lock(mutex);
  if (end) return;
  killed = true;
  pidfd_send_signal(process.number(), SIGKILL, nullptr, 0);
}

// ---- the parent's side

child::child(const child_options& options, on_end told) : state_(std::make_shared<child_state>()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a socket pair");
  }
  descriptor own(ends[0]), childs(ends[1]);
  auto memory = std::make_shared<shared_memory>(arena_size);
  const auto inherited = memory->take_descriptor();
  state_->told = std::move(told);
  state_->way = std::make_shared<socket_link>(
      std::move(own), std::move(memory), true,
      link_ending{.why = "the process has closed its link", .reason_within = end_known_within});
  keeper::of_this_process().start(state_, options, childs, inherited);
}

child::~child() {
  state_->way->close("the child's owner has let go of it");
  keeper::of_this_process().kill_later(state_);
}

pid_t child::pid() const { return state_->pid; }

std::shared_ptr<link> child::way() const { return state_->way; }

void child::kill() { state_->kill(); }

// ---- the child's side

std::shared_ptr<link> link_to_parent() {
  const char* mark = std::getenv(child_variable);
  if (!mark) return nullptr;
  const std::string is = mark;
  unsetenv(child_variable);
  const auto expected = std::to_string(inherited_socket) + "," + std::to_string(inherited_memory);
  struct stat about{};
  if (is != expected || fstat(inherited_socket, &about) != 0 || !S_ISSOCK(about.st_mode)) {
    throw std::runtime_error(std::string(child_variable) + " is \"" + is +
                             "\": only Troupe sets it, for a child that it starts");
  }
  fcntl(inherited_socket, F_SETFD, FD_CLOEXEC);
  fcntl(inherited_memory, F_SETFD, FD_CLOEXEC);
  // The child may have been executed as /proc/self/exe.
  prctl(PR_SET_NAME, program_invocation_short_name);
  return std::make_shared<socket_link>(
      descriptor(inherited_socket), std::make_shared<shared_memory>(descriptor(inherited_memory)),
      false, link_ending{.after = [] {
        std::fflush(nullptr);
        _exit(0);
      }});
}

}  // namespace troupe::detail
