#include "runtime/service/supervision/cycle_watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/actor/timed_action.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/call/pending_call.hpp"

namespace troupe::detail {

cycle_watch::cycle_watch(class clock& clock, duration pause, std::function<service_list()> services)
    : clock_(clock), pause_(pause), looks_left_(looks) {
  if (pause == duration(0)) return;  // The watch is closed from the start.
  services_ = std::move(services);
  looks_left_ = 0;
}

cycle_watch::~cycle_watch() = default;

void cycle_watch::look_again() {
  std::lock_guard lock(mutex_);
  if (!services_) return;
  looks_left_ = looks;
  if (!std::exchange(looks_later_, true)) look_later();
}

void cycle_watch::look_later() {
  clock_.wake_at(later(clock_.now(), pause_), ref<inbox>(new timed_action([me = weak_from_this()] {
                   if (const auto here = me.lock()) here->look();
                 })));
}

void cycle_watch::told(const replica_slot& slot, replica_waits waits) {
  std::lock_guard lock(mutex_);
  const auto place = asked_.find(slot.serial);
  if (place == asked_.end()) return;
  auto answered = asked_.extract(place);
  answered.mapped().waits = std::move(waits);
  answered.mapped().late = false;
  answers_.insert(std::move(answered));
}

void cycle_watch::close() {
  std::vector<wait> old_waits;
  answers old_answers;
  std::lock_guard lock(mutex_);
  services_ = nullptr;
  looks_left_ = looks;
  asked_.clear();
  old_answers.swap(answers_);
  old_waits.swap(before_);
}

void cycle_watch::look() {
  // These are destroyed without the lock, because calls and services may hold the program's
  // objects.
  std::vector<wait> old_waits;
  answers told;
  service_list services;
  std::lock_guard lock(mutex_);
  if (!services_) return;
  std::erase_if(asked_, [](const auto& entry) { return entry.second.slot->ended(); });
  if (waits_for_answers()) return look_later();
  // A replica that has not answered is in a long turn, and there may be a cycle behind it.
  if (asked_.empty()) --looks_left_;
  services = services_();
  told.swap(answers_);
  old_waits.swap(before_);
  before_ = waits_of(services, told);

  std::set<wait_id> old_ids, told_to_end;
  for (const auto& w : old_waits) (w.told_to_end ? told_to_end : old_ids).insert(w.id());
  std::set<std::size_t> left;  // A service may have been stopped since it was asked.
  for (const auto& service : services) left.insert(service->number);
  std::vector<wait> standing;
  std::copy_if(before_.begin(), before_.end(), std::back_inserter(standing), [&](const wait& w) {
    return old_ids.contains(w.id()) && left.contains(w.call.from) && left.contains(w.call.to);
  });
  if (!standing.empty()) report(services, told, standing, told_to_end);
  // A cycle is reported only once, even if its actors have had no turn before the next search.
  for (auto& w : before_) w.told_to_end = !w.begun() && told_to_end.contains(w.id());

  looks_later_ = looks_left_ > 0;
  if (!looks_later_) return before_.clear();
  ask(services);
  look_later();
}

bool cycle_watch::waits_for_answers() {
  const bool lacks_some =
      std::any_of(asked_.begin(), asked_.end(), [](const auto& e) { return !e.second.late; });
  if (lacks_some && ++delays_ <= delays_max) return true;
  delays_ = 0;
  for (auto& [serial, one] : asked_) one.late = true;
  return false;
}

void cycle_watch::ask(const service_list& services) {
  for (const auto& service : services) {
    // The process that serves it looks for its cycles.
    if (service->sessions().asks_elsewhere()) continue;
    const auto table = service->table();
    for (const auto& slot : *table) {
      if (slot->in_flight() == 0) continue;
      const answer none{slot, service->number, {}};
      if (!asked_.emplace(slot->serial, none).second) continue;
      ask_waits(*slot, [me = shared_from_this(), slot](replica_waits waits) {
        me->told(*slot, std::move(waits));
      });
    }
  }
}

namespace {

/// True if a replica may take calls that ask for this version.
bool has_version(const replica_table& table, std::int64_t version) {
  return std::any_of(table.begin(), table.end(), [&](const auto& slot) {
    return slot->version.load(std::memory_order_relaxed) >= version;
  });
}

}  // namespace

class cycle_watch::makers {
 public:
  explicit makers(const answers& told) {
    for (const auto& [serial, one] : told) {
      if (!one.waits.spokesman) {
        here_[one.slot->where.get()] = &one;
        continue;
      }
      // All replicas behind one link have the same mailbox here, but each work has its own slice.
      for (const auto& work : one.waits.begun) {
        elsewhere_[{one.waits.spokesman.get(), work.slice}] = &one;
      }
    }
  }

  /// Returns null if no endpoint's work made it.
  const answer* find(const inbox* who, std::uint64_t slice) const {
    if (slice == 0) return nullptr;
    if (const auto place = here_.find(who); place != here_.end()) return place->second;
    const auto place = elsewhere_.find({who, slice});
    return place == elsewhere_.end() ? nullptr : place->second;
  }

 private:
  std::map<const inbox*, const answer*> here_;
  std::map<std::pair<const inbox*, std::uint64_t>, const answer*> elsewhere_;
};

std::vector<cycle_watch::wait> cycle_watch::waits_of(const service_list& services,
                                                     const answers& told) {
  const makers made_by(told);
  std::vector<wait> waits;
  const auto add = [&](wait w, std::uint64_t by_slice) {
    const auto* from = made_by.find(w.caller.get(), by_slice);
    if (!from) return;
    w.call.by = {from->slot->serial, by_slice};
    w.call.from = from->service;
    waits.push_back(std::move(w));
  };
  const auto add_sent = [&](const awaited_call& call, const ref<call_base>& sent) {
    add({.call = call, .caller = sent->caller, .sent = sent}, sent->by_slice);
  };
  std::map<std::string, std::size_t> by_name;
  for (const auto& service : services) {
    if (!service->sessions().asks_elsewhere()) by_name[service->options.name] = service->number;
  }
  std::set<std::size_t> full;
  for (const auto& [serial, one] : told) {
    awaited_call call{.to = one.service, .at = serial, .where = awaited_call::stage::in_queue};
    for (const auto& sent : one.waits.queued) add_sent(call, sent);
    call.where = awaited_call::stage::in_endpoint;
    for (const auto& work : one.waits.begun) {
      call.work = work.slice;
      add_sent(call, work.call);
    }
    for (const auto& [slice, service] : one.waits.for_room) {
      const auto to = by_name.find(service);
      if (to == by_name.end()) continue;
      const awaited_call room{.by = {serial, slice}, .from = one.service, .to = to->second};
      waits.push_back({.call = room, .caller = one.slot->where, .elsewhere = one.slot});
    }
    if (one.waits.full) full.insert(one.service);
  }
  for (const auto& service : services) {
    for (auto& each : service->sessions().waits().waiting) {
      const awaited_call call{.to = service->number,
                              .where = awaited_call::stage::for_session,
                              .exclusive = each.request->exclusive,
                              .count = each.count};
      const auto slice = each.request->by_slice;
      add({.call = call, .caller = std::move(each.who), .session = std::move(each.request)}, slice);
    }
    // A service that isn't full may still give room.
    if (!full.contains(service->number)) continue;
    const auto table = service->table();
    for (const auto& t : service->queued_by_endpoints()) {
      if (!has_version(*table, t->min_version)) continue;
      awaited_call call{.to = service->number};
      if (t->only) {  // The replica may be gone.
        const auto place = std::find_if(table->begin(), table->end(),
                                        [&](const auto& slot) { return slot.get() == t->only; });
        if (place == table->end()) continue;
        call.at = (*place)->serial;
      }
      add({.call = call, .caller = t->who, .ticket_in_queue = t}, t->by_slice);
    }
  }
  return waits;
}

void cycle_watch::report(const service_list& services, const answers& told,
                         const std::vector<wait>& standing, std::set<wait_id>& told_to_end) {
  wait_graph graph;
  std::map<std::size_t, service_state*> by_number;
  for (const auto& service : services) {
    by_number[service->number] = service.get();
    auto& ready = graph.ready[service->number];
    const auto table = service->table();
    for (const auto& slot : *table) ready.push_back(slot->serial);
  }
  for (const auto& [serial, one] : told) {
    if (one.waits.ongoing == 0) continue;
    graph.busy.push_back({.id = serial, .ongoing = one.waits.ongoing, .full = one.waits.full});
  }
  for (const auto& w : standing) graph.calls.push_back(w.call);
  const makers made_by(told);
  for (const auto& service : services) {
    for (const auto& held : service->sessions().waits().held) {
      const auto* by = made_by.find(held.who, held.by_slice);
      if (!by) continue;
      graph.sessions.push_back({.by = {by->slot->serial, held.by_slice},
                                .replica = held.replica,
                                .exclusive = held.exclusive});
    }
  }

  for (const auto& cycle : cycles_of(graph)) {
    std::string members;
    for (const auto number : cycle.services) members += by_number.at(number)->options.name + " -> ";
    for (const auto number : std::set(cycle.services.begin(), cycle.services.end())) {
      by_number.at(number)->in_cycles.fetch_add(1, std::memory_order_relaxed);
    }
    members += by_number.at(cycle.services.front())->options.name;
    log::error("services wait for each other in a cycle; the calls that wait end as overloaded",
               {{"cycle", members}, {"calls", cycle.calls.size()}});
    for (const auto i : cycle.calls) {
      standing[i].end(members);
      told_to_end.insert(standing[i].id());
    }
  }
}

cycle_watch::wait_id cycle_watch::wait::id() const noexcept {
  if (ticket_in_queue) return {ticket_in_queue.get(), 0};
  if (session) return {session.get(), 0};
  if (elsewhere) return {elsewhere.get(), call.by.second};
  return {sent.get(), 0};
}

void cycle_watch::wait::end(const std::string& members) const {
  if (ticket_in_queue) return end_in_cycle(ticket_in_queue, members);
  if (elsewhere) return end_room_wait(*elsewhere, call.by.second, members);
  if (session) {
    return caller->post([request = session, members] {
      if (request->waiting) request->waiting->in_cycle(members);
    });
  }
  caller->post([call = sent, members] {
    if (call->pending) call->pending->owner.in_cycle(members);
  });
}

}  // namespace troupe::detail
