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
  // A replica that has not answered is in a long turn, and there may be a cycle behind it.
  if (asked_.empty()) --looks_left_;
  services = services_();
  told.swap(answers_);
  old_waits.swap(before_);
  before_ = waits_of(services, told);

  std::unordered_set<const void*> old_ids, told_to_end;
  for (const auto& w : old_waits) (w.told_to_end ? told_to_end : old_ids).insert(w.id());
  std::unordered_set<std::size_t> left;  // A service may have been stopped since it was asked.
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

void cycle_watch::ask(const service_list& services) {
  for (const auto& service : services) {
    const auto table = service->table();
    for (const auto& slot : *table) {
      if (slot->elsewhere || slot->in_flight() == 0) continue;
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

std::vector<cycle_watch::wait> cycle_watch::waits_of(const service_list& services,
                                                     const answers& told) {
  std::map<const inbox*, const answer*> whose;  // Keyed by the replicas' mailboxes.
  for (const auto& [serial, one] : told) whose[one.slot->where.get()] = &one;
  std::vector<wait> waits;
  const auto add = [&](wait w, std::uint64_t by_slice) {
    const auto from = whose.find(w.caller.get());
    if (from == whose.end()) return;
    w.call.by = {from->second->slot->serial, by_slice};
    w.call.from = from->second->service;
    waits.push_back(std::move(w));
  };
  const auto add_sent = [&](const awaited_call& call, const ref<call_base>& sent) {
    add({.call = call, .caller = sent->caller, .ticket_in_queue = nullptr, .sent = sent},
        sent->by_slice);
  };
  std::set<std::size_t> full;
  for (const auto& [serial, one] : told) {
    awaited_call call{.to = one.service, .at = serial, .where = awaited_call::stage::in_queue};
    for (const auto& sent : one.waits.queued) add_sent(call, sent);
    call.where = awaited_call::stage::in_endpoint;
    for (const auto& sent : one.waits.begun) {
      call.work = sent->slice;
      add_sent(call, sent);
    }
    if (one.waits.full) full.insert(one.service);
  }
  for (const auto& service : services) {
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
      add({.call = call, .caller = t->who, .ticket_in_queue = t, .sent = nullptr}, t->by_slice);
    }
  }
  return waits;
}

void cycle_watch::report(const service_list& services, const answers& told,
                         const std::vector<wait>& standing,
                         std::unordered_set<const void*>& told_to_end) {
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

  for (const auto& cycle : cycles_of(graph)) {
    std::string members;
    for (const auto number : cycle.services) {
      auto& service = *by_number.at(number);
      service.in_cycles.fetch_add(1, std::memory_order_relaxed);
      members += service.options.name + " -> ";
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

const void* cycle_watch::wait::id() const noexcept {
  return ticket_in_queue ? static_cast<const void*>(ticket_in_queue.get()) : sent.get();
}

void cycle_watch::wait::end(const std::string& members) const {
  if (ticket_in_queue) {
    caller->post([t = ticket_in_queue, members] {
      if (t->waiting) t->waiting->in_cycle(members);
    });
  } else {
    caller->post([call = sent, members] {
      if (call->pending) call->pending->owner.in_cycle(members);
    });
  }
}

}  // namespace troupe::detail
