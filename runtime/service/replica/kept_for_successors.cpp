#include "runtime/service/replica/kept_for_successors.hpp"

#include "runtime/actor/timed_action.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe::detail {

std::string kept_for_successors::key_of(const std::string& service, std::size_t index,
                                        const std::string& what) {
  return service + '\n' + std::to_string(index) + '\n' + what;
}

void kept_for_successors::keep(const std::string& key, std::shared_ptr<void> what) {
  std::shared_ptr<void> before;  // It is dropped outside the lock.
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    auto& kept = all_[key];
    before = std::exchange(kept.what, std::move(what));
    number = kept.number = ++last_;
  }
  const auto drop = [me = weak_from_this(), key, number] {
    const auto here = me.lock();
    if (!here) return;
    std::shared_ptr<void> old;
    std::lock_guard lock(here->mutex_);
    const auto kept = here->all_.find(key);
    if (kept == here->all_.end() || kept->second.number != number) return;
    old = std::move(kept->second.what);
    here->all_.erase(kept);
  };
  clock_.wake_at(later(clock_.now(), patience), ref<inbox>(new timed_action(drop)));
}

std::shared_ptr<void> kept_for_successors::take(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto kept = all_.find(key);
  if (kept == all_.end()) return nullptr;
  auto what = std::move(kept->second.what);
  all_.erase(kept);
  return what;
}

void kept_for_successors::close() {
  std::map<std::string, entry> all;
  std::lock_guard lock(mutex_);
  closed_ = true;
  all.swap(all_);
}

}  // namespace troupe::detail
