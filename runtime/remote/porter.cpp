#include "runtime/remote/porter.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <caf/logger.hpp>

#include "runtime/actor/signal.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/log.hpp"
#include "runtime/remote/hosted_replicas.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/remote/remote_options.hpp"
#include "runtime/remote/stand_in.hpp"
#include "runtime/service/change.hpp"
#include "runtime/service/faulty_replica.hpp"
#include "runtime/system_core.hpp"
#include "runtime/wire/error_codec.hpp"

namespace troupe::detail {

namespace {

porter& here() { return static_cast<porter&>(static_cast<host&>(strand::current())); }

thread_local porter* arriving = nullptr;

/// While values are read that came over a connection, handles among them name services of its
/// other side.
class arrival {
 public:
  explicit arrival(porter& by) noexcept : before_(std::exchange(arriving, &by)) {}
  arrival(const arrival&) = delete;
  ~arrival() { arriving = before_; }

 private:
  porter* before_;
};

/// A replica of a service, as the other side knows it.
struct table_entry {
  std::size_t index = 0;
  std::uint64_t serial = 0;
  std::int64_t version = any_version;
};

/// A call made for the other side. Like one of a session it goes to its replica alone, also while
/// that drains.
class relayed_call final : public pending_call {
 public:
  relayed_call(service_state& service, const call_options& options, ref<call_base> call,
               std::shared_ptr<replica_slot> slot)
      : pending_call(service, options, std::move(call), std::move(slot), true) {}
  using pending_call::call;

  void await_resume() const noexcept {}
  /// Null if it has its value.
  std::exception_ptr error() {
    try {
      check();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
};

}  // namespace

std::shared_ptr<service_state> arriving_service(const remote_options& options) {
  if (!arriving) throw wire_error("a handle of service " + options.name + " came from nowhere");
  return arriving->service_of(options);
}

ref<inbox> start_porter(system_core& system, std::shared_ptr<connection> to, porter::side mine,
                        std::function<void(const std::string&)> closed) {
  // CAF lets the thread that spawns hold its logger, and waits for it at the end: a thread of a
  // link's lives longer.
  const bool foreign = caf::logger::current_logger() == nullptr;
  const auto actor =
      system.actors().spawn<porter>(std::ref(system), std::move(to), mine, std::move(closed));
  if (foreign) caf::logger::set_current_actor_system(nullptr);
  return make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
}

porter::porter(caf::actor_config& config, system_core& system, std::shared_ptr<connection> to,
               side mine, std::function<void(const std::string&)> closed)
    : host(config, system), to_(std::move(to)), mine_(mine), closed_(std::move(closed)) {
  made();
}

void porter::starting() { to_->open(self()); }

void porter::heard(const message& m) {
  let_go();
  try {
    switch (m.header.kind) {
      case message_kind::make:
        return make(m);
      case message_kind::import:
        return import(m);
      case message_kind::call:
        return call(m);
      case message_kind::cancel:
        return cancel(m);
      case message_kind::drop:
        return drop(m.header.replica);
      case message_kind::watch:
        return watch_service(m);
      case message_kind::ping:
        return answer_ping(m);
      case message_kind::measure:
        if (mine_ != side::host) start_root(tell_metrics(m.header.id, to_));
        return;
      case message_kind::table:
        return learn_table(m);
      case message_kind::closed:
        return learn_closed(m);
      default:
        return;
    }
  } catch (const wire_error& e) {
    to_->close(std::string("the other side sent ") + e.what());
  }
}

void porter::lost(const std::string& why) {
  if (mine_ == side::resident) {
    if (closed_) closed_(why);
    return rest();
  }
  for (auto& [name, known] : foreign_) known.service->close("the way to it is lost: " + why);
  if (const auto tell = std::exchange(closed_, nullptr)) tell(why);
  end();
}

void porter::join(std::shared_ptr<connection> to) {
  next_ = std::move(to);
  if (!resting_) return;
  resting_ = false;
  to_ = std::exchange(next_, nullptr);
  to_->open(self());
  for (const auto& [name, known] : foreign_) to_->send({.kind = message_kind::watch}, name);
}

void porter::leave() {
  closed_ = nullptr;
  end();
}

/// Without a link. What is called here waits for the next one; what the controller called has
/// ended for it.
void porter::rest() {
  resting_ = true;
  for (const auto& [call, running] : relays_) cancel_root(*running);
  relays_.clear();
  for (auto& [number, e] : exports_) {
    if (!e.recipe.empty() && e.slot && !e.slot->ended()) {
      const auto after = e.service->options.outlive_controller;
      e.until = later(now(), after);
      outliving_.push_back(std::move(e));
      start_root(end_outliving(after));
    } else if (e.made_here) {
      e.actor->kill("the controller is lost");
      note_end(number, e);
    }
  }
  exports_.clear();
  let_go();
  for (auto& [name, known] : foreign_) {
    for (auto& [serial, s] : known.stand_ins) {
      if (s.slot) known.service->retract(s.slot);
      s.actor->kill("the controller is lost");
    }
    known.stand_ins.clear();
  }
  if (next_) join(std::move(next_));
}

branch porter::end_outliving(duration after) {
  co_await sleep_for(after);
  std::erase_if(outliving_, [&](const exported& e) {
    if (e.until > now()) return false;
    e.actor->kill("the controller has not come back");
    forget(e);
    return true;
  });
}

/// The role of that recipe that outlived a controller, if there is one, serves this one from here
/// on.
bool porter::take_over(std::uint32_t number, const std::string& recipe) {
  const auto place = std::find_if(outliving_.begin(), outliving_.end(), [&](const exported& e) {
    return e.recipe == recipe && !e.slot->ended();
  });
  if (recipe.empty() || place == outliving_.end()) return false;
  auto& e = exports_[number] = std::move(*place);
  outliving_.erase(place);
  log::info("a replica has outlived its controller and serves on",
            {{"service", e.service->options.name}, {"replica", e.slot->index}});
  tell_serves(number, *e.slot);
  return true;
}

void porter::ended() {
  for (const auto& e : outliving_) {
    e.actor->kill("its node is leaving");
    forget(e);
  }
  outliving_.clear();
  for (auto& [number, e] : exports_) {
    if (e.made_here) e.actor->kill("the other side has gone");
    note_end(number, e);
  }
  for (auto& [name, known] : foreign_) {
    known.service->close("the way to it is lost");
    for (auto& [serial, s] : known.stand_ins) s.actor->kill("the other side has gone");
    system_.remove_unnamed(*known.service);
  }
  exports_.clear();
  foreign_.clear();
  relays_.clear();
  let_go();
  to_->close("its porter has ended");
  if (const auto tell = std::exchange(closed_, nullptr)) tell("its porter has ended");
}

void porter::root_finished(std::exception_ptr error) {
  if (error) log::error("a relayed call failed", {{"error", describe(error)}});
}

void porter::on_down(const inbox& who, const std::string&) {
  for (auto place = exports_.begin(); place != exports_.end();) {
    auto& [number, e] = *place;
    if (e.actor.get() != &who) {
      ++place;
      continue;
    }
    send_ended(number, e.service->last_crash());
    note_end(number, e);
    place = exports_.erase(place);
  }
  std::erase_if(outliving_, [&](const exported& e) {
    if (e.actor.get() != &who) return false;
    forget(e);
    return true;
  });
  for (auto& [name, known] : foreign_) {
    std::erase_if(known.stand_ins, [&](auto& entry) {
      auto& s = entry.second;
      if (s.actor.get() != &who) return false;
      if (s.slot) {
        known.service->retract(s.slot);
        known.service->drained(s.slot);
      }
      return true;
    });
  }
}

// ---- as the exporter

namespace {

/// What a role is made from, but for the restarts before; empty where it may not outlive its
/// controller.
std::string made_from(const message& m, remote_options about) {
  if (about.outlive_controller == 0) return {};
  about.generation = 0;
  auto arguments = m.body();
  arguments.read<remote_options>();
  std::string recipe(wire_size(about) + 2 * sizeof(std::uint32_t), '\0');
  wire_writer to(std::as_writable_bytes(std::span(recipe)));
  to.write(m.header.what);
  to.write(m.header.hash);
  to.write(about);
  const auto rest = arguments.bytes(arguments.left(), "its arguments");
  return recipe.append(reinterpret_cast<const char*>(rest.data()), rest.size());
}

}  // namespace

void porter::make(const message& m) {
  const auto number = m.header.replica;
  auto body = m.body({&system_.metrics()});
  const auto about = body.read<remote_options>();
  std::shared_ptr<role_factory> factory;
  try {
    const arrival scope(*this);
    factory = role_recipe_of(m.header.what, m.header.hash).read(body);
  } catch (const wire_error& e) {
    return send_ended(number, std::string("its role could not be read: ") + e.what());
  }
  const auto recipe = made_from(m, about);
  if (take_over(number, recipe)) return;
  auto& e = exports_[number];
  e.made_here = true;
  e.recipe = mine_ == side::resident ? recipe : "";
  e.service = system_.add_unnamed(about.options(), false);
  e.service->role = factory->role;
  const replica_info info{about.index, about.generation};
  auto ready = [me = self(), number](std::shared_ptr<replica_slot> slot) {
    me->post([number, slot = std::move(slot)] { here().serves(number, slot); });
  };
  auto& actors = system_.actors();
  const bool isolated = system_.options().isolate;
  const auto actor =
      isolated ? actors.spawn<stand_in>(std::ref(system_), e.service, factory, info, ready,
                                        std::ref(system_.site_of(placement::process)))
      : system_.faults()
          ? actors.spawn<faulty_replica>(std::ref(system_), e.service, factory, info, ready)
          : actors.spawn<local_replica>(std::ref(system_), e.service, factory, info, ready);
  e.actor = make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  watch(*e.actor);
}

void porter::serves(std::uint32_t number, std::shared_ptr<replica_slot> slot) {
  const auto place = exports_.find(number);
  if (place == exports_.end() || slot->ended()) return;
  auto& e = place->second;
  // Where it is isolated, the process counts that it runs in.
  if (!system_.options().isolate) system_.hosted_replicas().add(e.service->options.name, slot);
  e.slot = std::move(slot);
  tell_serves(number, *e.slot);
}

void porter::import(const message& m) {
  const auto number = m.header.replica;
  auto body = m.body();
  const auto [name, serial] = body.read<std::pair<std::string, std::uint64_t>>();
  const auto service = system_.find_service(name);
  const auto table = service ? service->table() : std::make_shared<const replica_table>();
  const auto place = std::find_if(table->begin(), table->end(),
                                  [&](const auto& slot) { return slot->serial == serial; });
  if (place == table->end()) return send_ended(number, "it has gone");
  exports_[number] = {.service = service, .actor = (*place)->where, .slot = *place};
  watch(*(*place)->where);
  tell_serves(number, **place);
}

void porter::tell_serves(std::uint32_t number, const replica_slot& slot) {
  to_->send({.kind = message_kind::serves, .replica = number, .version = slot.version.load()});
}

void porter::call(const message& m) {
  const auto& header = m.header;
  const auto place = exports_.find(header.replica);
  if (place == exports_.end() || !place->second.slot) return;  // It has ended, as was told.
  auto& e = place->second;
  message_header reply{.kind = message_kind::error,
                       .control = header.control,
                       .replica = header.replica,
                       .id = header.id};
  ref<call_base> call;
  try {
    const auto& kind = call_kind_of(header.what, header.hash);
    auto& access = e.access[&kind];
    if (!access) access = access_to(*e.service, kind.handle);
    if (!access && e.service->role)
      throw wire_error(kind.name + ": " + e.service->options.name + " has no such endpoint");
    auto body = m.body({&system_.metrics()});
    const arrival scope(*this);
    call = kind.read(access, body);
    body.finish(kind.name);
  } catch (const wire_error&) {
    return send_error(reply, ending::refused, std::current_exception());
  }
  call_options options{.deadline = no_limit};
  if (header.deadline != message_header::no_deadline) options.deadline = duration(header.deadline);
  if (header.control != 0) options.priority = priority::control;
  auto& running = start_root(relay(reply, e.service, e.slot, options, std::move(call)));
  relays_[{header.replica, header.id}] = &running;
}

branch porter::relay(message_header reply, std::shared_ptr<service_state> service,
                     std::shared_ptr<replica_slot> slot, call_options options,
                     ref<call_base> call) {
  relayed_call pending(*service, options, std::move(call), slot);
  co_await pending;
  relays_.erase({reply.replica, reply.id});
  reply.version = slot->version.load();
  if (const auto error = pending.error()) {
    auto& done = pending.call();
    if (done.overran) co_return send_error(reply, ending::overran, done.error);
    if (done.error) {
      co_return send_error(reply, done.refused ? ending::refused : ending::threw, done.error);
    }
    // Of its end the other side hears by itself.
    if (!is_kind(error, error_kind::session_lost)) send_error(reply, ending::refused, error);
    co_return;
  }
  send_result(reply, pending.call());
}

void porter::send_result(message_header header, call_base& call) {
  header.kind = message_kind::result;
  try {
    to_->send(header, call.result_size(), [&](wire_writer& out) { call.write_result(out); });
  } catch (const std::exception& e) {
    send_error(
        header, ending::refused,
        std::make_exception_ptr(std::runtime_error(std::string(call.endpoint.name) +
                                                   ": its result could not be sent: " + e.what())));
  }
}

void porter::send_error(message_header header, ending how, const std::exception_ptr& error) {
  header.kind = message_kind::error;
  header.what = static_cast<std::uint32_t>(how);
  to_->send(header, error);
}

void porter::send_ended(std::uint32_t number, const std::string& reason) {
  to_->send({.kind = message_kind::ended, .replica = number},
            reason.empty() ? std::string("it has ended") : reason);
}

void porter::note_end(std::uint32_t number, exported& e) {
  if (!e.made_here) return;
  system_.hosted_replicas().remove(e.service->options.name, e.slot);
  ending_[number] = e.service;
}

/// Forgets the services of replicas that have ended, once no call of theirs is under way.
void porter::let_go() {
  std::erase_if(ending_, [&](const auto& entry) {
    const auto& [number, service] = entry;
    const auto next = relays_.lower_bound({number, 0});
    if (next != relays_.end() && next->first.first == number) return false;
    calls()->forget(*service);
    system_.remove_unnamed(*service);
    return true;
  });
}

/// The same of one replica, of which no call is under way.
void porter::forget(const exported& e) {
  system_.hosted_replicas().remove(e.service->options.name, e.slot);
  calls()->forget(*e.service);
  system_.remove_unnamed(*e.service);
}

void porter::cancel(const message& m) {
  const auto place = relays_.find({m.header.replica, m.header.id});
  if (place == relays_.end()) return;
  cancel_root(*place->second);
  relays_.erase(place);
}

void porter::drop(std::uint32_t number) {
  const auto place = exports_.find(number);
  if (place == exports_.end()) return;
  if (place->second.made_here) place->second.actor->kill("the other side has dropped it");
  note_end(number, place->second);
  exports_.erase(place);
}

void porter::answer_ping(const message& m) {
  message_header pong{.kind = message_kind::pong, .control = 1, .replica = m.header.replica};
  const auto place = exports_.find(m.header.replica);
  if (place == exports_.end()) return;  // It has ended, as was told.
  pong.what = static_cast<std::uint32_t>(alive::process);
  to_->send(pong);
  if (!place->second.slot) return;
  pong.what = static_cast<std::uint32_t>(alive::replica);
  place->second.slot->where->post([to = to_, pong] { to->send(pong); });
}

void porter::watch_service(const message& m) {
  auto body = m.body();
  const auto name = body.read<std::string>();
  if (const auto service = system_.find_service(name)) {
    start_root(tell_changes(name, service, to_));
  } else {
    to_->send({.kind = message_kind::closed}, std::make_pair(name, std::string("there is none")));
  }
}

branch porter::tell_changes(std::string name, std::shared_ptr<service_state> service,
                            std::shared_ptr<connection> to) {
  for (;;) {
    change next(*service, change::as::watcher);
    next.enter();
    if (to != to_) co_return;  // Another controller has come.
    std::vector<table_entry> entries;
    for (const auto& slot : *service->table()) {
      entries.push_back({slot->index, slot->serial, slot->version.load()});
    }
    // Where the system stops, the link's end says so: whom that ends there is another question.
    if (system_.stopping()) co_return;
    if (const auto reason = service->closed()) {
      to->send({.kind = message_kind::closed}, std::make_pair(name, *reason));
      co_return;
    }
    tell_ends(*service);
    to->send({.kind = message_kind::table}, std::make_pair(name, entries));
    co_await next;
  }
}

/// Of a replica that was abandoned no actor's end is heard.
void porter::tell_ends(const service_state& service) {
  std::erase_if(exports_, [&](const auto& entry) {
    const auto& [number, e] = entry;
    if (e.made_here || e.service.get() != &service || !e.slot->ended()) return false;
    send_ended(number, "it has ended");
    return true;
  });
}

namespace {

task<> hear(std::shared_ptr<signal> answered) { co_await signal::awaiter(answered); }

}  // namespace

/// What this process counts, and those that run replicas for it.
branch porter::tell_metrics(std::uint64_t id, std::shared_ptr<connection> to) {
  const auto answered = std::make_shared<signal>();
  system_.remote_metrics()->ask([answered] { signal::set(answered); });
  try {
    co_await with_timeout(hear(answered), remote_metrics::patience_between);
  } catch (const call_error&) {
    // Of who is late, the answer before is sent.
  }
  auto all = system_.metrics().families();
  if (wire_size(all) > remote_metrics::answer_max) {
    log::warn("this process has more metrics than it can tell its controller",
              {{"bytes", wire_size(all)}, {"limit", remote_metrics::answer_max}});
    all.clear();
  }
  to->send({.kind = message_kind::measured, .control = 1, .id = id}, all);
}

// ---- as the importer

std::shared_ptr<service_state> porter::service_of(const remote_options& options) {
  if (mine_ == side::host) {
    if (auto own = system_.find_service(options.name)) return own;
    throw wire_error("a handle of service " + options.name + ": there is none here");
  }
  auto& known = foreign_[options.name];
  if (!known.service || known.service->closed()) {
    if (known.service) system_.remove_unnamed(*known.service);
    // Found by the children of this process; a simulated one shares its system with the host.
    known.service = system_.add_unnamed(options.options(), !system_.deterministic());
    to_->send({.kind = message_kind::watch}, options.name);
  }
  return known.service;
}

void porter::learn_table(const message& m) {
  auto body = m.body();
  const auto [name, entries] = body.read<std::pair<std::string, std::vector<table_entry>>>();
  const auto place = foreign_.find(name);
  if (place == foreign_.end()) return;
  auto& known = place->second;
  for (auto& [serial, s] : known.stand_ins) {
    const auto there = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& e) { return e.serial == serial; });
    if (there != entries.end()) s.version = there->version;
    if (!s.slot || s.slot->leaving() || s.slot->ended()) continue;
    if (there != entries.end()) {
      known.service->note_version(*s.slot, s.version);
      continue;
    }
    known.service->withdraw(s.slot);
    troupe::detail::drain(*s.slot);
  }
  for (const auto& e : entries) {
    if (!known.stand_ins.contains(e.serial)) add_stand_in(known, name, e.index, e.serial);
  }
}

void porter::add_stand_in(foreign& of, const std::string& name, std::size_t index,
                          std::uint64_t serial) {
  auto ready = [me = self(), name, serial](std::shared_ptr<replica_slot> slot) {
    me->post([name, serial, slot = std::move(slot)] { here().stands(name, serial, slot); });
  };
  const auto actor = system_.actors().spawn<stand_in>(std::ref(system_), of.service,
                                                      replica_info{index, 0}, ready, to_, serial);
  auto& s = of.stand_ins[serial];
  s.actor = make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  watch(*s.actor);
}

void porter::stands(const std::string& name, std::uint64_t serial,
                    std::shared_ptr<replica_slot> slot) {
  const auto place = foreign_.find(name);
  if (place == foreign_.end() || slot->ended()) return;
  const auto s = place->second.stand_ins.find(serial);
  if (s == place->second.stand_ins.end()) return;
  s->second.slot = slot;
  place->second.service->note_version(*slot, s->second.version);
  place->second.service->publish(slot->index, std::move(slot));
}

void porter::learn_closed(const message& m) {
  auto body = m.body();
  const auto [name, reason] = body.read<std::pair<std::string, std::string>>();
  const auto place = foreign_.find(name);
  if (place != foreign_.end()) place->second.service->close(reason);
}

}  // namespace troupe::detail
