#pragma once
// Internal to this folder: the servers that this process knows, and its sessions at each.

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/openenv/client/client_metrics.hpp"
#include "actors/openenv/client/link.hpp"
#include "actors/openenv/protocol/url.hpp"
#include "runtime/service/external_result.hpp"

namespace troupe::openenv {

/// The protocol of a server, once a client has found it out.
enum class dialect { unknown, websocket, http };

class known_server;

/// A session that waits for room at one of several servers. As long as it lives, sessions that come
/// later wait, too, and those that end an episode give up their slots. Only the first one asks a
/// full server again and again, so that a server of few slots is not busy with refusals.
class seeker {
 public:
  /// Must be made by the actor that waits.
  explicit seeker(std::vector<std::shared_ptr<known_server>> at);
  /// Room that it was told of, and did not use, is that of the next one.
  ~seeker();
  seeker(const seeker&) = delete;

  /// Waits for `limit` at most. Returns true if a session of this process left one of the servers
  /// since the last call.
  task<bool> wait(duration limit);
  /// Returns whether no session has waited longer at one of the servers.
  bool is_first() const;
  /// Has the next one try, too, because a server had room that no session of this process left.
  void pass_on();

 private:
  friend class known_server;
  void tell();
  const std::vector<std::shared_ptr<known_server>> at_;
  // These are guarded by the mutex of all servers.
  std::optional<external_result<std::monostate>> room_;  ///< Set while it waits.
  bool is_told_ = false;  ///< There is room that it has not tried yet.
};

/// The connection of a session between two episodes. Another session that waits may close it.
struct resting_connection {
  const client_metrics* metrics = nullptr;
  std::shared_ptr<link> way = nullptr;  ///< Null unless it rests.
  std::list<resting_connection*>::iterator place = {};
};

/// One server, shared by all clients of this process. Any thread may use it.
class known_server {
 public:
  explicit known_server(server_url url) : url(std::move(url)) {}

  const server_url url;
  std::atomic<dialect> speaks{dialect::unknown};
  /// Whether a ping was ever answered. A tunnel before the server may drop pings.
  const std::shared_ptr<std::atomic<bool>> answers_pings =
      std::make_shared<std::atomic<bool>>(false);
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
  /// Gives up a seat. The session that has waited longest is told.
  void leave_seat();
  /// Gives up the seat of a connection that could not be made, or that the server refused. There is
  /// no more room than before, so none is told.
  void leave_unused() { --sessions; }

  /// Notes that a session of this process got a reply, or that it was the first one of a
  /// connection.
  void note_reply() { last_reply_ = since_epoch(); }
  void note_admission() { last_admission_ = since_epoch(); }
  std::chrono::steady_clock::time_point last_reply() const { return time_of(last_reply_); }
  std::chrono::steady_clock::time_point last_admission() const { return time_of(last_admission_); }

  /// Returns whether sessions of this process wait for room here.
  bool is_sought() const { return seekers_now_ > 0; }
  /// Returns whether the server has refused a session of this process because it was full.
  bool is_scarce() const { return is_scarce_; }
  /// Notes such a refusal, whose error has `details`. The first one is logged with its numbers.
  void note_refusal(const nlohmann::json& details);

  /// Leaves a connection here until the next episode.
  void rest(resting_connection& which, std::shared_ptr<link> way);
  /// Takes it back. Returns null if it was closed for another session.
  std::shared_ptr<link> resume(resting_connection& which);
  bool holds(const resting_connection& which) const;
  /// Closes the connection that has rested longest, if there is one.
  void close_resting();

  std::atomic<std::size_t> clients{0};  ///< The sessions that may come here, connected or not.

  bool avoided() const { return since_epoch() < avoided_until_; }
  void avoid_for(std::chrono::steady_clock::duration time) {
    avoided_until_ = since_epoch() + time.count();
  }

 private:
  friend class seeker;
  void leave_seat_locked();
  void tell_next_locked();

  static std::chrono::steady_clock::rep since_epoch() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  static std::chrono::steady_clock::time_point time_of(std::chrono::steady_clock::rep when) {
    return std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(when));
  }
  std::atomic<std::chrono::steady_clock::rep> last_reply_{0};
  std::atomic<std::chrono::steady_clock::rep> last_admission_{0};
  /// The server is avoided until this time, because it was full or gone.
  std::atomic<std::chrono::steady_clock::rep> avoided_until_{0};
  std::atomic<bool> is_scarce_{false};
  std::atomic<std::size_t> seekers_now_{0};
  // These are guarded by one mutex of all servers.
  std::list<seeker*> seekers_;              ///< In the order in which they came.
  std::list<resting_connection*> resting_;  ///< The longest first.
};

/// Returns the number of slots in the details of a refusal, or 0 if it has none.
std::size_t slots_in(const nlohmann::json& details);

/// Returns the server of that URL, which is the same object for every client.
std::shared_ptr<known_server> server_at(const std::string& url);

}  // namespace troupe::openenv
