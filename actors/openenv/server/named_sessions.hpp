#pragma once
// Internal to this folder: sessions that begin over HTTP, by JSON-RPC, and that a WebSocket may
// join.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "actors/openenv/server/conversation.hpp"
#include "actors/openenv/server/json_rpc.hpp"

namespace troupe::openenv_server {

struct hub;

/// The sessions of `openenv/session/create`. Each takes one of the server's slots until
/// `openenv/session/close`, or until it was idle for too long. A WebSocket to /ws?session_id=ID
/// plays in it, one at a time. Only the server's thread uses this object.
class named_sessions {
 public:
  using told = std::function<void(const nlohmann::json&)>;

  explicit named_sessions(hub& of) : hub_(of) {}

  /// Answers a request to POST /mcp if it concerns these sessions; otherwise returns false. The
  /// response is passed to `tell`, perhaps later.
  bool answer(std::string_view text, const told& tell);

  /// Lets a WebSocket play in the session. Throws std::runtime_error if there is none of that name,
  /// or it can't be joined now. `detach` must follow.
  std::unique_ptr<conversation> attach(const std::string& name);
  void detach(const std::string& name, std::unique_ptr<conversation> talk);

  /// Ends sessions that have been idle for too long, and with `all` every one that no WebSocket
  /// plays in.
  void look_after(std::chrono::steady_clock::time_point now, bool all);

 private:
  struct one {
    std::unique_ptr<conversation> talk = nullptr;  ///< Null while it is made or attached.
    bool is_attached = false;
    bool is_closing = false;  ///< It ends when its WebSocket does.
    std::chrono::steady_clock::time_point used = {};
  };
  using place = std::map<std::string, one>::iterator;

  void create(const rpc_request& asked, const told& tell);
  nlohmann::json close(const rpc_request& asked);
  place end(place which);

  hub& hub_;
  std::map<std::string, one> sessions_;
};

}  // namespace troupe::openenv_server
