#include "runtime/actor/clock.hpp"

#include "runtime/coroutine/sleep.hpp"

namespace troupe::detail {

namespace {

/// Actors end seldom, and have few alarms among them: a look at all is no cost.
void erase_of(alarms& all, const inbox& who) {
  std::erase_if(all, [&](const auto& alarm) { return alarm.second.get() == &who; });
}

}  // namespace

real_clock::real_clock() : thread_([this] { ring_when_due(); }) {}

real_clock::~real_clock() { stop(); }

void real_clock::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  alarms_.clear();
}

void real_clock::wake_at(time_point at, ref<inbox> who) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    first = alarms_.emplace(at, std::move(who)) == alarms_.begin();
  }
  if (first) changed_.notify_one();
}

void real_clock::forget(const inbox& who) {
  std::lock_guard lock(mutex_);
  erase_of(alarms_, who);
}

void real_clock::ring_when_due() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (alarms_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto next = alarms_.begin()->first;
    if (now() < next) {
      changed_.wait_until(lock, next);
      continue;
    }
    const auto who = std::move(alarms_.extract(alarms_.begin()).mapped());
    lock.unlock();
    who->ring();
    lock.lock();
  }
}

void virtual_clock::forget(const inbox& who) { erase_of(alarms_, who); }

bool virtual_clock::advance_to_next() {
  if (alarms_.empty()) return false;
  now_ = std::max(now_, alarms_.begin()->first);
  ring_all_due();
  return true;
}

void virtual_clock::spend(duration time) {
  now_ = later(now_, time);
  ring_all_due();
}

void virtual_clock::ring_all_due() {
  while (!alarms_.empty() && alarms_.begin()->first <= now_) {
    const auto who = std::move(alarms_.extract(alarms_.begin()).mapped());
    who->ring();
  }
}

}  // namespace troupe::detail
