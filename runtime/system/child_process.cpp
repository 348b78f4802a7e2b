#include "runtime/system/child_process.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include "runtime/base/failing_writes.hpp"
#include "runtime/process/child.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/system/system_core.hpp"

namespace troupe::detail {

namespace {

std::atomic<bool> main_is_ready{false};

/// The threads of a child's pool; the turns of its role and of the link never need more.
constexpr std::size_t child_threads = 2;

}  // namespace

bool can_have_children() { return main_is_ready; }

void serve_parent_if_child() {
  const auto parent = link_to_parent();
  main_is_ready = true;
  if (!parent) return;
  let_writes_fail();
  {
    system sys({.threads = child_threads});
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
    start_peer(core_of(sys), std::make_shared<connection>(parent), peer::side::guest,
               [&](const std::string&) {
                 std::lock_guard lock(mutex);
                 closed = true;
                 changed.notify_all();
               });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return closed; });
    std::fflush(nullptr);
    _exit(0);  // The parent awaits nothing more, and a role may be stuck.
  }
}

}  // namespace troupe::detail
