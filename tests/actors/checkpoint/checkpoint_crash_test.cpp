#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr std::int64_t step = 7;

/// Checkpoints of one step that differ.
checkpoint of_round(int round) {
  return {.kind = {.algorithm = "ppo", .environment = "CartPole-v1", .network = "obs 4"},
          .step = step,
          .config_sha256 = std::string(64, 'c'),
          .files = {{"learner.cbor", "round " + std::to_string(round)}}};
}

/// To this process the file system is one that can't exchange two names.
void refuse_exchanges() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[4])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RENAME_EXCHANGE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{std::size(instructions), instructions};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(2);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(2);
}

/// In the child, which stops at each of its system calls.
[[noreturn]] void write_traced(const checkpoint_directory& to, const checkpoint& state,
                               bool exchanges) noexcept {
  if (!exchanges) refuse_exchanges();
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
  ::raise(SIGSTOP);
  to.write(state);
  ::_exit(0);
}

/// Writes in another process, and kills that as it enters a system call after `calls` others. False
/// where it ended before.
bool is_killed_after(int calls, const checkpoint_directory& to, const checkpoint& state,
                     bool exchanges) {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) write_traced(to, state, exchanges);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  // It stops at the beginning and at the end of each call.
  for (int stops = 0; WIFSTOPPED(status) && stops < 2 * calls + 1; ++stops) {
    REQUIRE(::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
    REQUIRE(::waitpid(child, &status, 0) == child);
  }
  if (!WIFSTOPPED(status)) {
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return false;
  }
  REQUIRE(::kill(child, SIGKILL) == 0);
  while (WIFSTOPPED(status)) REQUIRE(::waitpid(child, &status, 0) == child);
  return true;
}

void kill_at_each_call(bool exchanges) {
  temporary_folder folder;
  const checkpoint_directory kept(folder.path);
  kept.write(of_round(0));
  int calls = 0;
  for (bool killed = true; killed; ++calls) {
    CAPTURE(calls);
    const auto before = of_round(2 * calls), fresh = of_round(2 * calls + 1);
    killed = is_killed_after(calls, kept, fresh, exchanges);
    CHECK(kept.steps() == std::vector<std::int64_t>{step});
    const auto left = kept.load(step).files;
    CHECK((left == fresh.files || (killed && left == before.files)));

    const auto after = of_round(2 * calls + 2);
    kept.write(after);
    CHECK(kept.load(step).files == after.files);
    CHECK(count_entries(folder.path) == 1);
  }
  CHECK(calls > 20);  // else it has not seen the calls
}

TEST_CASE("checkpoint: a kill at any system call leaves the one written over, or the new one") {
  kill_at_each_call(true);
}

TEST_CASE("checkpoint: the same on a file system that can't exchange two names") {
  kill_at_each_call(false);
}

}  // namespace
}  // namespace troupe
