#include "actors/openenv/server/named_sessions.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/openenv/server/hub.hpp"
#include "actors/openenv/server/requests.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv_server {

namespace {

using nlohmann::json;

std::string unknown(const std::string& name) {
  return "Unknown session_id: " + troupe::detail::printable(name, 80);
}

std::string still_initializing(const std::string& name) {
  return "Session " + name + " is still initializing; retry shortly";
}

}  // namespace

bool named_sessions::answer(std::string_view text, const told& tell) {
  const auto asked = read_rpc(text);
  if (!asked) return false;
  if (asked->method == "openenv/session/create") {
    create(*asked, tell);
    return true;
  }
  if (asked->session_id.empty()) return false;
  if (asked->method == "openenv/session/close") {
    tell(close(*asked));
    return true;
  }
  const auto found = sessions_.find(asked->session_id);
  if (found == sessions_.end()) {
    tell(rpc_error(rpc_invalid_params, unknown(asked->session_id), asked->id));
    return true;
  }
  found->second.used = steady::now();
  return false;  // environments have no tools, so the answer is that of any request
}

void named_sessions::create(const rpc_request& asked, const told& tell) {
  const auto max = hub_.options.sessions_max;
  if (hub_.is_draining) {
    hub_.metrics.refused(server_metrics::refusal::draining);
    return tell(rpc_error(rpc_server_error, "The server is shutting down", asked.id));
  }
  if (hub_.sessions >= max) {
    hub_.metrics.refused(server_metrics::refusal::capacity);
    return tell(rpc_error(rpc_server_error, at_capacity(hub_.sessions, max), asked.id,
                          {{"active_sessions", hub_.sessions}, {"max_sessions", max}}));
  }
  const auto name = troupe::detail::random_uuid();
  sessions_[name];
  hub_.take_slot();
  struct making {
    std::unique_ptr<conversation> talk;
    std::string error;
  };
  const auto made = std::make_shared<making>();
  const auto make = [this, name, made] {
    try {
      made->talk = std::make_unique<conversation>(hub_.make(), name);
    } catch (const std::exception& e) {
      made->error = troupe::detail::printable(e.what(), 1000);
    }
  };
  hub_.run(make, [this, name, made, id = asked.id, tell] {
    const auto which = sessions_.find(name);
    if (made->talk) {
      which->second.talk = std::move(made->talk);
      which->second.used = steady::now();
      return tell(rpc_result({{"session_id", name}}, id));
    }
    hub_.metrics.refused(server_metrics::refusal::environment);
    end(which);
    tell(rpc_error(rpc_server_error, made->error, id, {{"factory_name", hub_.api.id()}}));
  });
}

json named_sessions::close(const rpc_request& asked) {
  const auto& name = asked.session_id;
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return rpc_error(rpc_invalid_params, unknown(name), asked.id);
  auto& which = found->second;
  if (which.is_attached) {
    which.is_closing = true;
    return rpc_result({{"session_id", name}, {"closed", false}, {"closing", true}}, asked.id);
  }
  if (!which.talk) return rpc_error(rpc_invalid_request, still_initializing(name), asked.id);
  end(found);
  return rpc_result({{"session_id", name}, {"closed", true}}, asked.id);
}

std::unique_ptr<conversation> named_sessions::attach(const std::string& name) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) throw std::runtime_error(unknown(name));
  auto& which = found->second;
  if (which.is_attached)
    throw std::runtime_error("Session " + name + " already has an attached WebSocket");
  if (!which.talk) throw std::runtime_error(still_initializing(name));
  which.is_attached = true;
  return std::move(which.talk);
}

void named_sessions::detach(const std::string& name, std::unique_ptr<conversation> talk) {
  const auto found = sessions_.find(name);
  auto& which = found->second;
  which.talk = std::move(talk);
  which.is_attached = false;
  which.used = steady::now();
  if (which.is_closing) end(found);
}

void named_sessions::look_after(steady::time_point now, bool all) {
  for (auto each = sessions_.begin(); each != sessions_.end();) {
    const bool is_idle = all || now - each->second.used > hub_.options.idle_timeout;
    if (!each->second.talk || !is_idle) {
      ++each;
      continue;
    }
    hub_.metrics.dropped(all ? server_metrics::drop::drained : server_metrics::drop::idle);
    each = end(each);
  }
}

named_sessions::place named_sessions::end(place which) {
  hub_.discard(std::move(which->second.talk));
  hub_.free_slot();
  return sessions_.erase(which);
}

}  // namespace troupe::openenv_server
