#include "actors/openenv/client/io_thread.hpp"

#include <mutex>

namespace troupe::openenv {

std::shared_ptr<io_thread> io_thread::of_this_process() {
  static std::mutex mutex;
  static std::weak_ptr<io_thread> running;
  std::lock_guard lock(mutex);
  auto found = running.lock();
  if (!found) running = found = std::make_shared<io_thread>();
  return found;
}

}  // namespace troupe::openenv
