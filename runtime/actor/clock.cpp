#include "runtime/actor/clock.hpp"

#include "runtime/coroutine/sleep.hpp"

namespace troupe::detail {

namespace {

/// Returns false if there is no memory for the message, so that the alarm has to ring again.
bool ring(inbox& who) {
  try {
    who.ring();
    return true;
  } catch (const std::exception&) {
    return false;
  }
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

alarm_key real_clock::wake_at(time_point at, ref<inbox> who) {
  bool first;
  alarm_key key;
  {
    std::lock_guard lock(mutex_);
    key = {at, ++last_number_};
    if (stopping_) return key;
    first = alarms_.emplace(key, std::move(who)).first == alarms_.begin();
  }
  if (first) changed_.notify_one();
  return key;
}

void real_clock::forget(const std::vector<alarm_key>& which) {
  std::lock_guard lock(mutex_);
  for (const auto& key : which) alarms_.erase(key);
}

void real_clock::ring_when_due() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (alarms_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto next = alarms_.begin()->first.first;
    if (now() < next) {
      changed_.wait_until(lock, next);
      continue;
    }
    auto alarm = alarms_.extract(alarms_.begin());
    lock.unlock();
    const bool rang = ring(*alarm.mapped());
    lock.lock();
    if (rang || stopping_) continue;
    alarm.key().first = later(now(), std::chrono::milliseconds(10));
    alarms_.insert(std::move(alarm));
  }
}

alarm_key virtual_clock::wake_at(time_point at, ref<inbox> who) {
  const alarm_key key{at, ++last_number_};
  alarms_.emplace(key, std::move(who));
  return key;
}

void virtual_clock::forget(const std::vector<alarm_key>& which) {
  for (const auto& key : which) alarms_.erase(key);
}

bool virtual_clock::advance_to_next() {
  if (alarms_.empty()) return false;
  now_ = std::max(now_, alarms_.begin()->first.first);
  ring_all_due();
  return true;
}

void virtual_clock::spend(duration time) {
  now_ = later(now_, time);
  ring_all_due();
}

void virtual_clock::ring_all_due() {
  while (!alarms_.empty() && alarms_.begin()->first.first <= now_) {
    const auto who = std::move(alarms_.extract(alarms_.begin()).mapped());
    who->ring();
  }
}

}  // namespace troupe::detail
