#include "runtime/remote/imports.hpp"

#include <algorithm>
#include <vector>

#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_options.hpp"
#include "runtime/remote/remote_replica.hpp"
#include "runtime/remote/table_entry.hpp"

namespace troupe::detail {

namespace {

thread_local imports* arriving = nullptr;

}  // namespace

imports::arrival::arrival(imports& by) noexcept : before_(std::exchange(arriving, &by)) {}
imports::arrival::~arrival() { arriving = before_; }

std::shared_ptr<service_state> arriving_service(const remote_options& options) {
  if (!arriving) throw wire_error("a handle of service " + options.name + " came from nowhere");
  return arriving->service_of(options);
}

std::shared_ptr<service_state> imports::service_of(const remote_options& options) {
  auto& system = by_.system();
  if (by_.mine() == peer::side::host) {
    if (!by_.way().has_given(options.name)) {
      throw wire_error("a handle of service " + shown(options.name) + ", which it was not given");
    }
    if (auto own = system.find_service(options.name)) return own;
    throw wire_error("a handle of service " + options.name + ": there is none here");
  }
  auto& known = all_[options.name];
  if (!known.service || known.service->closed()) {
    if (known.service) {
      sessions_.closed(*known.service);
      system.remove_unnamed(*known.service);
    }
    known.service = system.add_unnamed(options.options());
    known.service->sessions().ask_at(sessions_.owner_of(known.service));
    known.told = false;
    // Children of this process find the service by its name. A simulated process shares its system
    // with the host, where the name is taken.
    if (!system.deterministic()) system.make_findable(*known.service);
    by_.way().send({.kind = message_kind::watch}, options.name);
  }
  return known.service;
}

void imports::learn_table(const message& m) {
  auto body = m.body();
  const auto [name, entries] = body.read<std::pair<std::string, std::vector<table_entry>>>();
  const auto place = all_.find(name);
  // The service is not watched.
  if (place == all_.end() || place->second.service->closed()) return;
  auto& known = place->second;
  for (auto& [serial, s] : known.remote_replicas) {
    const auto there = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& e) { return e.serial == serial; });
    if (there != entries.end()) s.version = there->version;
    if (!s.slot || s.slot->leaving() || s.slot->ended()) continue;
    if (there != entries.end()) {
      known.service->note_version(*s.slot, s.version);
      continue;
    }
    known.service->withdraw({s.slot});
    s.slot->drain();
  }
  for (const auto& e : entries) {
    if (!known.remote_replicas.contains(e.serial))
      add_remote_replica(known, name, e.index, e.serial);
  }
  known.told = true;
  sessions_.told(name);
}

void imports::learn_closed(const message& m) {
  auto body = m.body();
  const auto [name, reason] = body.read<std::pair<std::string, std::string>>();
  const auto place = all_.find(name);
  if (place == all_.end()) return;
  place->second.service->close(reason);
  sessions_.closed(*place->second.service);
}

bool imports::is_told(const service_state& service) const {
  const auto place = all_.find(service.options.name);
  return place != all_.end() && place->second.service.get() == &service && place->second.told;
}

std::shared_ptr<replica_slot> imports::replica_here(const service_state& service,
                                                    const table_entry& e) {
  const auto& name = service.options.name;
  auto& known = all_.at(name);
  const auto place = known.remote_replicas.find(e.serial);
  if (place != known.remote_replicas.end()) return place->second.slot;
  add_remote_replica(known, name, e.index, e.serial);
  return nullptr;
}

void imports::add_remote_replica(foreign_service& of, const std::string& name, std::size_t index,
                                 std::uint64_t serial) {
  auto ready = [me = by_.self(), name, serial](std::shared_ptr<replica_slot> slot) {
    me->post([name, serial, slot = std::move(slot)] {
      peer::here().imported().stands(name, serial, slot);
    });
  };
  auto& system = by_.system();
  const auto actor = system.actors().spawn<remote_replica>(
      std::ref(system), of.service, replica_info{index, 0}, std::make_shared<replica_slot>(index),
      ready, by_.shared_way(), serial);
  auto& s = of.remote_replicas[serial];
  s.actor = make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  by_.watch(*s.actor);
}

void imports::stands(const std::string& name, std::uint64_t serial,
                     std::shared_ptr<replica_slot> slot) {
  const auto place = all_.find(name);
  if (place == all_.end() || slot->ended()) return;
  const auto s = place->second.remote_replicas.find(serial);
  if (s == place->second.remote_replicas.end()) return;
  s->second.slot = slot;
  place->second.service->note_version(*slot, s->second.version);
  place->second.service->publish(std::move(slot));
  sessions_.stands(serial);
}

std::vector<std::pair<std::string, std::shared_ptr<ticket>>> imports::room_waits() const {
  std::vector<std::pair<std::string, std::shared_ptr<ticket>>> waits;
  for (const auto& [name, known] : all_) {
    for (auto& t : known.service->queued_by_endpoints()) waits.emplace_back(name, std::move(t));
  }
  return waits;
}

void imports::on_down(const inbox& who) {
  std::uint64_t ended = 0;
  for (auto& [name, known] : all_) {
    std::erase_if(known.remote_replicas, [&](auto& entry) {
      auto& s = entry.second;
      if (s.actor.get() != &who) return false;
      ended = entry.first;
      if (s.slot) {
        known.service->retract(s.slot);
        known.service->drained(s.slot);
      }
      return true;
    });
  }
  if (ended != 0) sessions_.remote_replica_ended(ended);
}

void imports::rest() {
  sessions_.rest();
  for (auto& [name, known] : all_) {
    known.told = false;
    for (auto& [serial, s] : known.remote_replicas) {
      if (s.slot) known.service->retract(s.slot);
      s.actor->kill("the controller is lost");
    }
    known.remote_replicas.clear();
  }
}

void imports::ask_again() {
  for (const auto& [name, known] : all_) by_.way().send({.kind = message_kind::watch}, name);
}

void imports::close(const std::string& why) {
  for (auto& [name, known] : all_) known.service->close(why);
}

void imports::end_all() {
  close("the way to it is lost");
  sessions_.end_all();
  for (auto& [name, known] : all_) {
    for (auto& [serial, s] : known.remote_replicas) s.actor->kill("the other side has gone");
    by_.system().remove_unnamed(*known.service);
  }
  all_.clear();
}

}  // namespace troupe::detail
