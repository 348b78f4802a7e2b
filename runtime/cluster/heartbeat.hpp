#pragma once

#include <chrono>

namespace troupe::detail {

/// When to ping the other side of a link, and when to hold it for lost. Knows no clock of its own.
class heartbeat {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  enum class due { nothing, ping, lost };

  heartbeat(std::chrono::milliseconds ping_every, std::chrono::milliseconds lost_after)
      : ping_every_(ping_every), lost_after_(lost_after) {}

  /// What there is to do now. `heard`: whether anything has come since the last time this was
  /// asked, or nothing could come, since nobody read.
  due look(time_point now, bool heard) {
    if (heard || !begun_) last_heard_ = now;
    if (now - last_heard_ >= lost_after_) return due::lost;
    if (begun_ && now - last_ping_ < ping_every_) return due::nothing;
    begun_ = true;
    last_ping_ = now;
    return due::ping;
  }

 private:
  std::chrono::milliseconds ping_every_, lost_after_;
  time_point last_heard_{}, last_ping_{};
  bool begun_ = false;
};

}  // namespace troupe::detail
