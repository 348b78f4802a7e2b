#include "runtime/service/supervision/start_watch.hpp"

#include <algorithm>

#include "runtime/actor/timed_action.hpp"
#include "runtime/service/replica/replica.hpp"

namespace troupe::detail {

start_watch::start_watch(replica_context& system, std::shared_ptr<const service_state> service,
                         std::function<void(late_slots)> looked)
    : system_(system),
      service_(std::move(service)),
      limit_(service_->options.start_timeout),
      looked_(std::move(looked)) {}

void start_watch::add(const std::shared_ptr<replica_slot>& slot) {
  if (limit_ == no_limit) return;
  std::lock_guard lock(mutex_);
  if (!looked_) return;
  starting_.emplace(slot->serial, slot);
  if (!std::exchange(looks_, true)) look_later();
}

void start_watch::remove(const std::shared_ptr<replica_slot>& slot) {
  std::lock_guard lock(mutex_);
  starting_.erase(slot->serial);
}

void start_watch::close() {
  std::lock_guard lock(mutex_);
  looked_ = nullptr;
  starting_.clear();
  if (looks_) system_.clock().forget({next_look_});
}

void start_watch::look_later() {
  const auto pause =
      std::clamp<duration>(limit_ / 4, std::chrono::milliseconds(1), std::chrono::seconds(1));
  const auto look = [me = weak_from_this()] {
    if (const auto here = me.lock()) here->look();
  };
  auto& clock = system_.clock();
  next_look_ = clock.wake_at(later(clock.now(), pause), ref<inbox>(new timed_action(look)));
}

void start_watch::look() {
  const auto now = system_.clock().now().time_since_epoch().count();
  late_slots late;
  std::lock_guard lock(mutex_);
  std::erase_if(starting_, [&](const auto& entry) {
    const auto& slot = entry.second;
    const auto since = slot->starting_since.load(std::memory_order_relaxed);
    if (since == replica_slot::has_no_place || now - since <= limit_.count()) return false;
    if (abandon(system_, *service_, *slot)) late.push_back(slot);
    return true;
  });
  if (looked_) looked_(std::move(late));
  looks_ = !starting_.empty();
  if (looks_) look_later();
}

}  // namespace troupe::detail
