#pragma once

#include <chrono>

namespace troupe::detail {

/// Decides when to ping the other side of a link and when the link counts as lost. It has no clock
/// of its own.
class heartbeat {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  enum class due { nothing, ping, lost };

  heartbeat(std::chrono::milliseconds ping_every, std::chrono::milliseconds lost_after)
      : ping_every_(ping_every), lost_after_(lost_after) {}

  /// Returns what is due now. `heard` is true if anything has come since the last call, or if
  /// nothing could come because nobody read, and the other machine acknowledges what it is sent.
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
