#pragma once
// Internal to this folder: who of this process is where.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "actors/openenv/protocol/url.hpp"

namespace troupe::openenv {

/// What a server speaks, once somebody has found out.
enum class dialect { unknown, websocket, http };

/// One server, as all clients of this process see it. Any thread.
class known_server {
 public:
  explicit known_server(server_url url) : url(std::move(url)) {}

  const server_url url;
  std::atomic<dialect> speaks{dialect::unknown};
  std::atomic<std::size_t> sessions{0};  ///< Connected and connecting.
  /// The older protocol has one environment a server: a second session would play in its episode.
  bool take_seat(std::size_t most) {
    if (speaks == dialect::http) most = 1;
    auto taken = sessions.load();
    while (taken < most) {
      if (sessions.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
  }
  void leave_seat() { --sessions; }

  bool avoided() const { return since_epoch() < avoided_until_; }
  void avoid_for(std::chrono::steady_clock::duration time) {
    avoided_until_ = since_epoch() + time.count();
  }

 private:
  static std::chrono::steady_clock::rep since_epoch() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  /// Until then it is not asked, as it was full or gone.
  std::atomic<std::chrono::steady_clock::rep> avoided_until_{0};
};

/// The same for every client that names it.
std::shared_ptr<known_server> server_at(const std::string& url);

}  // namespace troupe::openenv
