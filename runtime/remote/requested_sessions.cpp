#include "runtime/remote/requested_sessions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/remote/peer.hpp"
#include "runtime/service/replica/replica.hpp"
#include "runtime/wire/error_codec.hpp"

namespace troupe::detail {

/// Forwards requests to the peer, which handles them in its own turns. May be used on any thread.
class requested_sessions::owner_proxy final : public session_owner {
 public:
  owner_proxy(ref<inbox> peer, std::weak_ptr<service_state> service)
      : peer_(std::move(peer)), service_(std::move(service)) {}

  void ask(std::shared_ptr<session_request> request) override {
    peer_->post([service = service_.lock(), request = std::move(request)] {
      peer::here().imported().sessions().ask(service, request);
    });
  }
  void release(std::shared_ptr<session_request> request) override {
    peer_->post(
        [request = std::move(request)] { peer::here().imported().sessions().release(*request); });
  }

 private:
  const ref<inbox> peer_;
  const std::weak_ptr<service_state> service_;
};

/// Tells the owner, in its destructor, that a session has ended.
class requested_sessions::deferred_release {
 public:
  deferred_release(ref<inbox> peer, std::uint64_t id) : peer_(std::move(peer)), id_(id) {}
  deferred_release(const deferred_release&) = delete;
  ~deferred_release() {
    peer_->post([id = id_] { peer::here().imported().sessions().send_release(id); });
  }

 private:
  const ref<inbox> peer_;
  const std::uint64_t id_;
};

std::shared_ptr<session_owner> requested_sessions::owner_of(
    const std::shared_ptr<service_state>& service) {
  return std::make_shared<owner_proxy>(by_.self(), service);
}

// ---- what is asked here

void requested_sessions::ask(std::shared_ptr<service_state> service,
                             std::shared_ptr<session_request> request) {
  // The opener has been told that the service is closed.
  if (!service || service->closed()) return;
  const auto id = request->number = ++last_id_;
  auto& a = all_[id] = {.request = std::move(request), .service = std::move(service)};
  if (imports_.is_told(*a.service)) return send_open(id, a);
  wait_unsent(id, a);
}

/// Keeps a request that can't be sent now, because no link has brought the service's table yet.
void requested_sessions::wait_unsent(std::uint64_t id, asked& a) {
  const auto& options = a.service->options;
  auto& line = unsent_[options.name];
  std::string why;
  if (!a.request->wait) why = options.name + ": no replica is ready";
  if (why.empty() && line.size() >= options.max_waiting) {
    why = options.name + ": " + std::to_string(options.max_waiting) +
          " wait for a session already (max_waiting)";
  }
  if (why.empty()) {
    a.stage = stage::unsent;
    line.insert(id);
    return;
  }
  const auto refused = std::move(a);
  all_.erase(id);
  refused.service->sessions().refused(
      refused.request, std::make_exception_ptr(call_error(error_kind::overloaded, why)));
}

void requested_sessions::send_open(std::uint64_t id, asked& a) {
  const auto& request = *a.request;
  message_header header{.kind = message_kind::open, .id = id};
  header.set_slice(request.by_slice);
  if (request.until != time_point::max()) {
    header.deadline = std::max<std::int64_t>(1, (request.until - by_.now()).count());
  }
  a.stage = stage::sent;
  by_.way().send(header, std::tuple(a.service->options.name, request.exclusive, request.wait));
}

void requested_sessions::send_release(std::uint64_t id) {
  by_.way().send({.kind = message_kind::release, .id = id});
}

void requested_sessions::release(const session_request& request) {
  const auto place = all_.find(request.number);
  if (place == all_.end()) return;
  const auto id = place->first;
  const auto a = std::move(place->second);
  all_.erase(place);
  switch (a.stage) {
    case stage::unsent:
      unsent_[a.service->options.name].erase(id);
      return;
    case stage::placing:
      placing_[a.granted.serial].erase(id);
      break;
    case stage::held:
      if (a.slot->sessions.fetch_sub(1) == 1 && a.slot->leaving()) a.slot->drain();
      // The release follows everything that the remote replica still sends about the session's
      // calls, or the remote replica's end, so the next holder can't begin before the calls that
      // were given up are cancelled.
      a.slot->where->post([last = std::make_shared<deferred_release>(by_.self(), id)] {});
      return;
    case stage::sent:
      break;
  }
  send_release(id);
}

// ---- what is answered

void requested_sessions::opened(const message& m) {
  const auto place = all_.find(m.header.id);
  if (place == all_.end() || place->second.stage != stage::sent)
    return;  // The request was given up.
  auto body = m.body();
  if (m.header.what == static_cast<std::uint32_t>(answer_to_open::granted)) {
    place->second.granted = body.read<table_entry>();
    return this->place(place->first, place->second);
  }
  auto error = body.read<std::exception_ptr>();
  if (!error) throw wire_error("opened with an error that is none");
  const auto a = std::move(place->second);
  all_.erase(place);
  a.service->sessions().refused(a.request, std::move(error));
}

/// Opens the session at the replica's remote replica, which is made if there is none.
void requested_sessions::place(std::uint64_t id, asked& a) {
  const auto slot = imports_.replica_here(*a.service, a.granted);
  // If the slot has ended, the end of its actor is about to be reported.
  if (!slot || slot->ended()) {
    a.stage = stage::placing;
    placing_[a.granted.serial].insert(id);
    return;
  }
  if (slot->leaving()) return ask_again(id, a);
  slot->sessions.fetch_add(1);
  a.slot = slot;
  a.stage = stage::held;
  const auto request = a.request;
  if (!a.service->sessions().granted(request, slot)) release(*request);
}

/// Asks for another session because the replica is gone. Nobody has been told of the old one.
void requested_sessions::ask_again(std::uint64_t id, asked& a) {
  send_release(id);
  send_open(id, a);
}

// ---- what becomes of services and replicas

void requested_sessions::told(const std::string& service) {
  const auto line = unsent_.find(service);
  if (line == unsent_.end()) return;
  for (const auto id : line->second) send_open(id, all_.at(id));
  unsent_.erase(line);
}

std::set<std::uint64_t> requested_sessions::placed_at(std::uint64_t serial) {
  const auto place = placing_.find(serial);
  if (place == placing_.end()) return {};
  auto ids = std::move(place->second);
  placing_.erase(place);
  return ids;
}

void requested_sessions::stands(std::uint64_t serial) {
  for (const auto id : placed_at(serial)) place(id, all_.at(id));
}

void requested_sessions::remote_replica_ended(std::uint64_t serial) {
  for (const auto id : placed_at(serial)) ask_again(id, all_.at(id));
}

void requested_sessions::closed(const service_state& service) {
  std::vector<std::shared_ptr<session_request>> gone;
  for (const auto& [id, a] : all_) {
    if (a.service.get() == &service) gone.push_back(a.request);
  }
  for (const auto& request : gone) release(*request);
}

void requested_sessions::rest() {
  placing_.clear();
  std::vector<std::uint64_t> waiting;
  std::erase_if(all_, [&](const auto& entry) {
    const auto& [id, a] = entry;
    if (a.stage == stage::held) return true;
    if (a.stage != stage::unsent) waiting.push_back(id);
    return false;
  });
  for (const auto id : waiting) wait_unsent(id, all_.at(id));
}

void requested_sessions::end_all() {
  all_.clear();
  unsent_.clear();
  placing_.clear();
}

}  // namespace troupe::detail
