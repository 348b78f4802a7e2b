#include "runtime/base/scarcity.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace troupe::detail {

namespace {

std::atomic<bool> may_be_scarce{false};
std::mutex mutex;
std::shared_ptr<const std::function<bool()>> none_is_left;  // Guarded by the mutex.

}  // namespace

void set_scarcity(std::function<bool()> no_thread_is_left) {
  std::lock_guard lock(mutex);
  may_be_scarce = no_thread_is_left != nullptr;
  none_is_left = std::make_shared<const std::function<bool()>>(std::move(no_thread_is_left));
}

void check_scarcity() {
  if (!may_be_scarce) return;
  std::shared_ptr<const std::function<bool()>> none;
  {
    std::lock_guard lock(mutex);
    none = none_is_left;
  }
  if (none && *none && (*none)()) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
}

void require_thread() {
  check_scarcity();
  std::thread([] {}).join();
}

}  // namespace troupe::detail
