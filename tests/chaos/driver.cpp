#include "actors/torch/torch.hpp"

#include "tests/chaos/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/system/system_core.hpp"
#include "tests/chaos/killer.hpp"
#include "tests/chaos/load.hpp"
#include "tests/chaos/node_killer.hpp"

namespace troupe::chaos {

namespace {

std::int64_t retries_of(system& sys) {
  std::int64_t sum = 0;
  for (const auto* name : {"environments", "policies", "rewards"}) {
    sum += static_cast<std::int64_t>(detail::core_of(sys).find_service(name)->retries.load());
  }
  return sum;
}

/// Ends the load, and waits for those who are in the middle of something; false if some don't end.
task<bool> end_load(group& g, load& l) {
  l.ending = true;
  try {
    co_await with_timeout(g.join(), 2 * hung_after);
    co_return true;
  } catch (const call_error&) {
    co_return false;
  }
}

/// Those of this process once it has no more than before, or some time later.
task<process_figures> settle(process_figures before) {
  constexpr auto limit = std::chrono::seconds(20);
  const auto until = std::chrono::steady_clock::now() + limit;
  auto now = read_process_figures();
  while ((now.descriptors > before.descriptors || now.threads > before.threads) &&
         std::chrono::steady_clock::now() < until) {
    co_await sleep_for(std::chrono::milliseconds(100));
    now = read_process_figures();
  }
  co_return now;
}

/// The load runs for as long as between two kills before the figures are read.
task<> kill_nodes(system& sys, load& l, node_processes& nodes, const driver_options& options,
                  findings& found) {
  auto& of_nodes = found.nodes.emplace();
  co_await sleep_for(options.killer.every);
  of_nodes.before = read_process_figures();
  found.kills = co_await kill_nodes_at_random(sys, l.to, nodes, options.killer);
  of_nodes.after = co_await settle(of_nodes.before);
}

task<> kill_loaded(group& g, system& sys, load& l, std::optional<node_processes>& nodes,
                   const driver_options& options, findings& found) {
  start_load(g, l, options.callers, options.killer.seed);
  if (nodes) {
    co_await kill_nodes(sys, l, *nodes, options, found);
  } else {
    found.kills = co_await kill_at_random(sys, l.to, options.killer);
  }
  found.load_ended = co_await end_load(g, l);
}

/// Services fill all nodes.
constexpr std::size_t services_on_nodes = 4;

task<> main_of(system& sys, const driver_options& options, const driver_ends& to) {
  std::optional<node_processes> nodes;
  role_options roles{.replicas = options.replicas};
  if (options.nodes > 0) {
    nodes.emplace(sys.port(), to.secret, services_on_nodes * options.replicas);
    for (std::size_t i = 0; i < options.nodes; ++i) nodes->start();
    co_await sys.wait_for_nodes(options.nodes);
    roles = {.replicas = options.replicas * options.nodes, .where = placement::node("*")};
  }
  load l;
  l.to = co_await serve_roles(sys, roles);
  findings found;
  co_await with_group([&](group& g) { return kill_loaded(g, sys, l, nodes, options, found); });
  for (const auto* requests : {&l.environment, &l.policy, &l.reward}) found.requests.add(*requests);
  found.sessions = l.sessions;
  found.updates = l.updates;
  found.stale = l.stale;
  found.retries = retries_of(sys);
  if (nodes) {
    found.nodes->work = l.work;
    found.nodes->failed_to_end = co_await nodes->end_all(2 * hung_after);
  }
  print(found);
  std::fflush(stdout);

  auto figures = to_json(found);
  figures["breaches"] = breaches(found, options.promised);
  const auto line = figures.dump() + "\n";
  if (!nodes) co_await kill_all(l.to);
  if (write(to.out, line.data(), line.size()) < 0) std::perror("chaos");
  co_await sleep_for(std::chrono::hours(1));
}

system_options system_of(const driver_options& options, const driver_ends& to) {
  if (options.nodes == 0) return {};
  return {.listen = "127.0.0.1:0", .join_secret = to.secret};
}

}  // namespace

void drive(const driver_options& options, const driver_ends& to) {
  fcntl(to.out, F_SETFD, FD_CLOEXEC);  // No node inherits it.
  system sys(system_of(options, to));
  sys.run(main_of(sys, options, to));
  _exit(1);
}

}  // namespace troupe::chaos
