#include "runtime/process/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/process/keeper.hpp"
#include "runtime/process/socket_link.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t arena_size = 256 << 20;  // The size for each direction; the memory is sparse.
// A child's sockets close a moment before its end is known.
constexpr std::chrono::milliseconds end_known_within{1000};

}  // namespace

/// The state of one child, used by the keeper.
struct child_state final : kept_process {
  using kept_process::kept_process;

  void ended(const std::string& why) override { way->no_more(why); }
  void let_go() override { way->close("the program ends"); }

  std::shared_ptr<socket_link> way;
};

// ---- the parent's side

child::child(const child_options& options, on_end told)
    : state_(std::make_shared<child_state>(std::move(told))) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a socket pair");
  }
  descriptor own(ends[0]), childs(ends[1]);
  auto memory = std::make_shared<shared_memory>(arena_size);
  const auto inherited = memory->take_descriptor();
  state_->way = std::make_shared<socket_link>(
      std::move(own), std::move(memory), true,
      link_ending{.why = "the process has closed its link", .reason_within = end_known_within});
  state_->start([&] { return spawn(options, childs, inherited); });
}

child::~child() {
  state_->way->close("the child's owner has let go of it");
  state_->kill_later();
}

pid_t child::pid() const { return state_->pid(); }

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
  prctl(PR_SET_NAME, program_invocation_short_name);  // The child was executed as /proc/self/exe.
  return std::make_shared<socket_link>(
      descriptor(inherited_socket), std::make_shared<shared_memory>(descriptor(inherited_memory)),
      false, link_ending{.after = [] {
        std::fflush(nullptr);
        _exit(0);
      }});
}

}  // namespace troupe::detail
