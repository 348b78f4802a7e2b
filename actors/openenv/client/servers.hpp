#pragma once
// Internal to this folder: the servers that this process knows, and its sessions at each.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "actors/openenv/protocol/url.hpp"

namespace troupe::openenv {

/// The protocol of a server, once a client has found it out.
enum class dialect { unknown, websocket, http };

/// One server, shared by all clients of this process. Any thread may use it.
class known_server {
 public:
  explicit known_server(server_url url) : url(std::move(url)) {}

  const server_url url;
  std::atomic<dialect> speaks{dialect::unknown};
  std::atomic<std::size_t> sessions{0};  ///< The sessions that are connected or connecting.
  /// Takes a seat unless `most` are taken. With the older protocol a server has only one seat,
  /// because it has one environment: a second session would play in the first one's episode.
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
  /// The server is avoided until this time, because it was full or gone.
  std::atomic<std::chrono::steady_clock::rep> avoided_until_{0};
};

/// Returns the server of that URL, which is the same object for every client.
std::shared_ptr<known_server> server_at(const std::string& url);

}  // namespace troupe::openenv
