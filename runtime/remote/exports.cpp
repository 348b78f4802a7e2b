#include "runtime/remote/exports.hpp"

#include <algorithm>
#include <set>

#include "runtime/actor/ticks.hpp"
#include "runtime/base/build_stamp.hpp"
#include "runtime/base/log.hpp"
#include "runtime/remote/hosted_replicas.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_options.hpp"
#include "runtime/remote/table_entry.hpp"
#include "runtime/remote/wait_report.hpp"
#include "runtime/service/replica/replica.hpp"

namespace troupe::detail {

exports::exports(peer& by)
    : by_(by),
      calls_(std::make_shared<byte_count>(by.system().peer_bytes_max())),
      forwarded_(by),
      orphaned_(by, [this](const exported_replica& e) { forget(e); }) {}

void exports::make(const message& m) {
  check_number(m);
  const auto number = m.header.replica;
  wanted_role wanted;
  std::string role_spec;
  try {
    wanted = read_role(m);
    role_spec = made_from(m, wanted.about);
  } catch (...) {
    return tell_ended(number, "its role could not be read: " + describe(std::current_exception()));
  }
  if (!take_over(number, role_spec)) run(number, wanted, std::move(role_spec));
}

exports::wanted_role exports::read_role(const message& m) {
  wanted_role wanted;
  auto body = m.body({&by_.system().metrics()});
  const auto origin = body.read<role_origin>();
  if (origin.build != build_stamp()) {
    throw wire_error("expected a program of build " + shown(origin.build) +
                     " of Troupe, from which it was asked for, got one of build " + build_stamp());
  }
  wanted.about = body.read<remote_options>();
  wanted.options = wanted.about.options();
  const imports::arrival scope(by_.imported());
  wanted.factory = role_constructor_of(m.header.key(), origin.role).read(body);
  return wanted;
}

void exports::run(std::uint32_t number, const wanted_role& wanted, std::string role_spec) {
  auto& system = by_.system();
  const auto& [about, options, factory] = wanted;
  auto& e = all_[number];
  e.made_here = true;
  if (by_.mine() == peer::side::resident) e.role_spec = std::move(role_spec);
  e.service = system.add_unnamed(options);
  e.service->role = factory->role;
  e.service->asked_from_elsewhere = true;
  e.slot = std::make_shared<replica_slot>(about.index);
  const replica_info info{about.index, about.generation};
  auto ready = [me = by_.self(), number](std::shared_ptr<replica_slot> slot) {
    me->post([number, slot = std::move(slot)] { peer::here().exported().serves(number, slot); });
  };
  e.actor = system.isolate()
                ? system.slot_provider_of(placement::process)
                      .start_replica(e.service, factory, info, e.slot, ready)
                : system.start_replica(e.service, factory, info, e.slot, ready, true, false);
  by_.watch(*e.actor);
}

void exports::serves(std::uint32_t number, std::shared_ptr<replica_slot> slot) {
  const auto place = all_.find(number);
  if (place == all_.end() || place->second.slot != slot || slot->ended()) return;
  auto& e = place->second;
  auto& system = by_.system();
  // Where it is isolated, the process counts that it runs in.
  if (!system.isolate()) system.hosted_replicas().add(e.service->options.name, slot);
  e.serves = true;
  tell_serves(number, *e.slot);
}

/// Lets a replica that outlived a controller and has the same role specification serve this
/// controller. Returns false if there is none.
bool exports::take_over(std::uint32_t number, const std::string& role_spec) {
  auto found = orphaned_.take(role_spec);
  if (!found.slot) return false;
  const auto& e = all_[number] = std::move(found);
  log::info("a replica has outlived its controller and serves on",
            {{"service", e.service->options.name}, {"replica", e.slot->index}});
  tell_serves(number, *e.slot);
  return true;
}

void exports::import(const message& m) {
  check_number(m);
  const auto number = m.header.replica;
  auto body = m.body();
  const auto [name, serial] = body.read<std::pair<std::string, std::uint64_t>>();
  const auto known = told_.find(name);
  if (known == told_.end() || serial > known->second.newest) {
    throw wire_error("import of a replica of service " + shown(name) + " that it was not told of");
  }
  if (all_.size() >= imported_max) {
    throw wire_error("import of more than " + std::to_string(imported_max) + " replicas");
  }
  const auto service = by_.system().find_service(name);
  const bool is_there = service && known->second.serials.contains(serial);
  const auto table = is_there ? service->table() : std::make_shared<const replica_table>();
  const auto place = std::find_if(table->begin(), table->end(),
                                  [&](const auto& slot) { return slot->serial == serial; });
  if (place == table->end()) return tell_ended(number, "it has gone");
  all_[number] = {.service = service, .actor = (*place)->where, .slot = *place, .serves = true};
  by_.watch(*(*place)->where);
  tell_serves(number, **place);
}

void exports::call(const message& m) {
  const auto& header = m.header;
  const auto place = all_.find(header.replica);
  // The replica has ended, and the other side has been told.
  if (place == all_.end() || !place->second.serves) return;
  auto& e = place->second;
  ref<call_base> call;
  forwarded_.check_number(header);
  try {
    require_room(m);
    call = read_call(m, e);
  } catch (...) {
    return forwarded_.refuse(header, std::current_exception());
  }
  forwarded_.start(header, e.service, e.slot, std::move(call));
}

/// Who sends more than there is room for is refused rather than not read: a call under way may wait
/// for a later message of the same side, so that a link which isn't read could stay so.
void exports::require_room(const message& m) const {
  if (by_.mine() != peer::side::host) return;
  if (forwarded_.running() >= running_max) {
    throw call_error(error_kind::overloaded, "more than " + std::to_string(running_max) +
                                                 " calls over one link are under way");
  }
  const auto held = calls_->bytes();
  // A call of any size is taken while there is no other.
  if (held == 0 || held + m.size() + call_overhead <= calls_->bound()) return;
  throw call_error(error_kind::overloaded, "the calls over one link that are under way hold " +
                                               std::to_string(held) + " bytes, and this one has " +
                                               std::to_string(m.size()) + ": expected at most " +
                                               std::to_string(calls_->bound()) +
                                               " (system_options::peer_bytes_max)");
}

ref<call_base> exports::read_call(const message& m, exported_replica& of) {
  const auto& kind = call_kind_of(m.header.key());
  auto& access = of.access[&kind];
  if (!access) access = access_to(*of.service, kind.handle);
  if (!access && of.service->role)
    throw wire_error(kind.name + ": " + of.service->options.name + " has no such endpoint");
  auto body = m.body({&by_.system().metrics()});
  const imports::arrival scope(by_.imported());
  auto call = kind.read(access, body);
  body.finish(kind.name);
  if (by_.mine() == peer::side::host) {
    call->counted_in = std::make_shared<const counted_bytes>(calls_, m.size() + call_overhead);
  }
  return call;
}

void exports::check_number(const message& m) const {
  const auto number = m.header.replica;
  if (!all_.contains(number) && !ending_.contains(number)) return;
  throw wire_error(std::string(right_to(m.header.kind).name) + " with number " +
                   std::to_string(number) + ", which is in use");
}

void exports::drop(const message_header& header) {
  const auto number = header.replica;
  const auto place = all_.find(number);
  if (place == all_.end()) return;
  auto& e = place->second;
  if (e.made_here && header.what == static_cast<std::uint32_t>(drop_as::replaced)) {
    e.service->has_successor = true;
    return leave_place(*e.slot);  // `on_down` tells the other side of the end.
  }
  end(number, e, "the other side has dropped it");
  all_.erase(place);
}

void exports::end(std::uint32_t number, const exported_replica& e, const char* why) {
  if (!e.made_here) return;
  // The replica's thread may be stuck in the turn.
  const bool busy = e.slot->busy_since.load(std::memory_order_relaxed) != 0;
  if (busy) abandon(by_.system(), *e.service, *e.slot);
  e.actor->kill(why);
  note_end(number, e);
}

void exports::answer_ping(const message& m) {
  const auto place = all_.find(m.header.replica);
  if (place == all_.end()) return;  // The replica has ended, and the other side has been told.
  auto& e = place->second;
  const auto busy = e.slot->busy_since.load(std::memory_order_relaxed);
  // While it has an allowance, its time does not change and has not begun.
  const bool stuck = busy != 0 && busy == std::exchange(e.seen_busy, busy) &&
                     busy <= ticks_of(by_.system().clock().now());
  by_.way().send({.kind = message_kind::pong,
                  .control = 1,
                  .replica = m.header.replica,
                  .what = static_cast<std::uint32_t>(stuck ? alive::process : alive::replica)});
}

void exports::ask_waits(std::uint32_t number) {
  const auto place = all_.find(number);
  // The replica has ended, and the other side has been told.
  if (place == all_.end() || !place->second.made_here || !place->second.serves) return;
  const auto& slot = place->second.slot;
  detail::ask_waits(*slot, [me = by_.self(), number, slot](replica_waits waits) {
    me->post([number, slot, waits = std::move(waits)] {
      peer::here().exported().tell_waits(number, *slot, waits);
    });
  });
}

void exports::tell_waits(std::uint32_t number, const replica_slot& slot,
                         const replica_waits& waits) {
  const auto place = all_.find(number);
  if (place == all_.end() || place->second.slot.get() != &slot) return;
  const auto ids = forwarded_.ids_of(number);
  wait_report report{.ongoing = waits.ongoing, .full = waits.full};
  std::set<std::uint64_t> slices;
  for (const auto& [call, slice] : waits.begun) {
    slices.insert(slice);
    if (const auto id = ids.find(call.get()); id != ids.end())
      report.begun.push_back({id->second, slice});
  }
  for (const auto& call : waits.queued) {
    if (const auto id = ids.find(call.get()); id != ids.end()) report.queued.push_back(id->second);
  }
  for (const auto& [service, t] : by_.imported().room_waits()) {
    if (slices.contains(t->by_slice)) report.for_room.push_back({t->by_slice, service});
  }
  // Those of its own process, if it is isolated.
  for (const auto& wait : waits.for_room) report.for_room.push_back({wait.slice, wait.service});
  by_.way().send({.kind = message_kind::waits, .control = 1, .replica = number}, report);
}

void exports::end_wait(const message& m) {
  const auto place = all_.find(m.header.replica);
  if (place == all_.end() || !place->second.made_here) return;
  auto body = m.body();
  const auto members = body.read<std::string>();
  const auto slice = m.header.id;
  for (const auto& [service, t] : by_.imported().room_waits()) {
    if (t->by_slice == slice) end_in_cycle(t, members);
  }
  detail::end_room_wait(*place->second.slot, slice, members);
}

void exports::tell_serves(std::uint32_t number, const replica_slot& slot) {
  by_.way().send({.kind = message_kind::serves, .replica = number, .version = slot.version.load()});
}

void exports::tell_ended(std::uint32_t number, const std::string& reason) {
  by_.way().send({.kind = message_kind::ended, .replica = number},
                 reason.empty() ? std::string("it has ended") : reason);
}

void exports::tell_table(const std::string& name, const replica_table& replicas) {
  told_[name].serials.clear();
  std::vector<table_entry> entries;
  for (const auto& slot : replicas) {
    entries.push_back({slot->index, slot->serial, slot->version.load()});
    note_told(name, *slot);
  }
  by_.way().send({.kind = message_kind::table}, std::make_pair(name, entries));
}

void exports::note_told(const std::string& name, const replica_slot& slot) {
  auto& told = told_[name];
  told.serials.insert(slot.serial);
  told.newest = std::max(told.newest, slot.serial);
}

void exports::tell_closed(const std::string& name, std::optional<std::uint64_t> number,
                          const std::string& reason) {
  if (by_.way().tell_closed(name, number, reason)) told_[name].serials.clear();
}

void exports::tell_ends(const service_state& service) {
  std::erase_if(all_, [&](const auto& entry) {
    const auto& [number, e] = entry;
    if (e.made_here || e.service.get() != &service || !e.slot->ended()) return false;
    tell_ended(number, "it has ended");
    return true;
  });
}

void exports::on_down(const inbox& who) {
  std::erase_if(all_, [&](const auto& entry) {
    const auto& [number, e] = entry;
    if (e.actor.get() != &who) return false;
    tell_ended(number, e.service->last_crash());
    note_end(number, e);
    return true;
  });
  orphaned_.on_down(who);
}

void exports::note_end(std::uint32_t number, const exported_replica& e) {
  if (!e.made_here) return;
  by_.system().hosted_replicas().remove(e.service->options.name, e.slot);
  ending_[number] = e.service;
}

void exports::let_go() {
  std::erase_if(ending_, [&](const auto& entry) {
    const auto& [number, service] = entry;
    if (forwarded_.any_of(number)) return false;
    by_.calls()->give_up(*service);
    by_.system().remove_unnamed(*service);
    return true;
  });
}

/// Forgets a replica that has ended and has no call under way.
void exports::forget(const exported_replica& e) {
  by_.system().hosted_replicas().remove(e.service->options.name, e.slot);
  by_.calls()->give_up(*e.service);
  by_.system().remove_unnamed(*e.service);
}

void exports::rest() {
  forwarded_.cancel_all();
  for (auto& [number, e] : all_) {
    if (!e.role_spec.empty() && e.serves && !e.slot->ended()) {
      orphaned_.keep(std::move(e));
    } else {
      end(number, e, "the controller is lost");
    }
  }
  all_.clear();
  let_go();
}

void exports::end_all() {
  orphaned_.end_all("its node is leaving");
  for (const auto& [number, e] : all_) end(number, e, "the other side has gone");
  all_.clear();
  forwarded_.forget_all();
  let_go();
}

}  // namespace troupe::detail
