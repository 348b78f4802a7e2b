#include "actors/torch/torch.hpp"

#include "tests/chaos/node_killer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "runtime/system/system_core.hpp"

namespace troupe::chaos {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct hunt {
  system& sys;
  node_processes& nodes;
  std::vector<std::shared_ptr<detail::service_state>> services;
  std::vector<kill_record> kills;
  std::mt19937_64 random;
};

bool is_here(const hunt& h, const std::string& name) {
  const auto here = h.sys.nodes();
  return std::any_of(here.begin(), here.end(), [&](const auto& n) { return n.name == name; });
}

bool all_serve(const hunt& h) {
  return std::all_of(h.services.begin(), h.services.end(),
                     [](const auto& s) { return s->ready() == s->desired.load(); });
}

bool all_back(const hunt& h) {
  return std::all_of(h.kills.begin(), h.kills.end(), [](const auto& k) { return k.back; });
}

/// Sees to the loss of that number.
task<> make_good(hunt& h, std::size_t number) {
  const auto name = h.kills[number].victim;
  const auto killed = h.kills[number].killed;
  while (is_here(h, name)) co_await sleep_for(1ms);
  h.kills[number].noticed = clock::now() - killed;
  co_await sleep_for(killed + replaced_after - clock::now());
  h.nodes.start();
  while (!all_serve(h)) co_await sleep_for(5ms);
  h.kills[number].back = clock::now() - killed;
}

/// One that has joined. Its loss is known to nobody yet, and its number is the last.
bool kill_one(hunt& h, time_point start) {
  const auto here = h.sys.nodes();
  if (here.empty()) return false;
  const auto& victim = here[h.random() % here.size()];
  kill_record k{.victim = victim.name,
                .pid = h.nodes.pid_of(victim.name),
                .held = fmt::format("{} replicas", victim.replicas),
                .killed = clock::now()};
  k.at = k.killed - start;
  h.nodes.kill(victim.name);
  h.kills.push_back(std::move(k));
  return true;
}

task<> kill_and_make_good(group& g, hunt& h, killer_options options) {
  const auto start = clock::now();
  for (auto due = options.every; due <= options.length; due += options.every) {
    co_await sleep_for(start + due - clock::now());
    if (kill_one(h, start)) g.start(make_good(h, h.kills.size() - 1));
  }
  const auto limit = clock::now() + options.length;
  while (!all_back(h) && clock::now() < limit) co_await sleep_for(10ms);
}

}  // namespace

task<std::vector<kill_record>> kill_nodes_at_random(system& sys, const roles& who,
                                                    node_processes& nodes, killer_options options) {
  hunt h{.sys = sys, .nodes = nodes, .random = std::mt19937_64(options.seed)};
  for (const auto& name :
       {who.environments.name(), who.policies.name(), who.rewards.name(), who.workers->name()}) {
    h.services.push_back(detail::core_of(sys).find_service(name));
  }
  co_await with_group([&](group& g) { return kill_and_make_good(g, h, options); });
  co_return std::move(h.kills);
}

}  // namespace troupe::chaos
