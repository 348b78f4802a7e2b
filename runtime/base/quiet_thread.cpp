#include "runtime/base/quiet_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include "runtime/base/scarcity.hpp"

namespace troupe::detail {

std::thread quiet_thread(std::function<void()> run, const char* name) {
  check_scarcity();
  auto started = quiet_thread_of_simulation(std::move(run));
  if (name) pthread_setname_np(started.native_handle(), name);
  return started;
}

std::thread quiet_thread_of_simulation(std::function<void()> run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  try {
    started = std::thread(std::move(run));  // The new thread inherits the signal mask.
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace troupe::detail
