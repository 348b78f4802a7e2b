#include "actors/torch/torch.hpp"

#include "tests/chaos/killer.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <random>

#include "runtime/service/call/change.hpp"
#include "runtime/system/system_core.hpp"

namespace troupe::chaos {

namespace {

using clock = std::chrono::steady_clock;
using located_replicas = std::vector<outcome<whereabouts>>;

/// A service whose replicas are killed.
struct prey {
  std::shared_ptr<detail::service_state> state;
  std::function<task<located_replicas>()> locate;
  std::map<std::size_t, whereabouts> known;  ///< By index: those that have answered.
};

/// The kill of one replica.
struct hit : kill_record {
  std::string service;
  whereabouts of;
  std::uint64_t serial = 0;  ///< The replica's.
};

struct hunt {
  std::vector<prey> all;
  std::vector<hit> kills;
  std::mt19937_64 random;
};

/// Also control calls wait for room, so this doesn't wait behind the load.
constexpr call_options at_once{.deadline = std::chrono::seconds(10), .priority = priority::control};

template <class Role>
task<located_replicas> locate(service<Role> of) {
  return of.with(at_once).template fanout_settled<&Role::where>();
}

template <class Role>
prey prey_of(system& sys, const service<Role>& of) {
  return {.state = detail::core_of(sys).find_service(of.name()),
          .locate = [of] { return locate(of); }};
}

std::shared_ptr<detail::replica_slot> slot_of(const prey& p, std::size_t index) {
  for (const auto& slot : *p.state->table()) {
    if (slot->index == index && !slot->ended()) return slot;
  }
  return nullptr;
}

bool is_of(const hit& k, const prey& p) { return k.service == p.state->options.name; }

void note_losses(hunt& h, const prey& p) {
  const auto table = p.state->table();
  for (auto& k : h.kills) {
    if (k.noticed || !is_of(k, p)) continue;
    const bool listed = std::any_of(table->begin(), table->end(),
                                    [&](const auto& slot) { return slot->serial == k.serial; });
    if (!listed) k.noticed = clock::now() - k.killed;
  }
}

task<> note_answers(hunt& h, prey& p) {
  const auto answers = co_await p.locate();
  for (const auto& answer : answers) {
    if (!answer.ok()) continue;  // Its replica was killed meanwhile.
    const auto& at = answer.value();
    p.known[at.index] = at;
    for (auto& k : h.kills) {
      const bool successor =
          is_of(k, p) && k.of.index == at.index && k.of.generation < at.generation;
      if (successor && !k.back) k.back = clock::now() - k.killed;
    }
  }
}

/// Until it is cancelled.
task<> watch(group& g, hunt& h, prey& p) {
  for (;;) {
    detail::change next(*p.state, detail::change::as::watcher);
    next.enter();
    note_losses(h, p);
    g.start(note_answers(h, p));
    co_await next;
  }
}

/// One that serves and isn't a victim already.
void kill_one(hunt& h, time_point start) {
  struct choice {
    const prey* of;
    whereabouts at;
    std::shared_ptr<detail::replica_slot> slot;
  };
  std::vector<choice> choices;
  for (const auto& p : h.all) {
    for (const auto& [index, at] : p.known) {
      const bool killed = std::any_of(h.kills.begin(), h.kills.end(), [&](const auto& k) {
        return is_of(k, p) && k.of.index == index && k.of.generation == at.generation;
      });
      if (auto slot = slot_of(p, index); slot && !killed) choices.push_back({&p, at, slot});
    }
  }
  if (choices.empty()) return;
  const auto& victim = choices[h.random() % choices.size()];
  const auto& service = victim.of->state->options.name;
  hit k{{.victim = fmt::format("{}/{}", service, victim.at.index),
         .pid = victim.at.pid,
         .held = fmt::format("{} calls", victim.slot->in_flight()),
         .killed = clock::now()},
        service,
        victim.at,
        victim.slot->serial};
  k.at = k.killed - start;
  kill(static_cast<pid_t>(k.pid), SIGKILL);
  h.kills.push_back(std::move(k));
}

bool all_back(const hunt& h) {
  return std::all_of(h.kills.begin(), h.kills.end(), [](const auto& k) { return k.back; });
}

task<> kill_under_watch(group& g, hunt& h, killer_options options) {
  for (auto& p : h.all) g.start(watch(g, h, p));
  const auto start = clock::now();
  for (auto due = options.every; due <= options.length; due += options.every) {
    co_await sleep_for(start + due - clock::now());
    kill_one(h, start);
  }
  const auto limit = clock::now() + options.length;
  while (!all_back(h) && clock::now() < limit) co_await sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

task<std::vector<kill_record>> kill_at_random(system& sys, const roles& who,
                                              killer_options options) {
  hunt h{.all = {prey_of(sys, who.environments), prey_of(sys, who.policies),
                 prey_of(sys, who.rewards)},
         .random = std::mt19937_64(options.seed)};
  co_await with_group([&](group& g) { return kill_under_watch(g, h, options); });
  co_return std::vector<kill_record>(h.kills.begin(), h.kills.end());
}

task<> kill_all(const roles& who) {
  auto found = co_await all(locate(who.environments), locate(who.policies), locate(who.rewards));
  const auto kill_these = [](const located_replicas& replicas) {
    for (const auto& r : replicas) {
      if (r.ok()) kill(static_cast<pid_t>(r.value().pid), SIGKILL);
    }
  };
  kill_these(std::get<0>(found));
  kill_these(std::get<1>(found));
  kill_these(std::get<2>(found));
}

}  // namespace troupe::chaos
