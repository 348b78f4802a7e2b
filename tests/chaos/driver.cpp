#include "actors/torch.hpp"

#include "tests/chaos/driver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/system_core.hpp"
#include "tests/chaos/load.hpp"

namespace troupe::chaos {

namespace {

std::int64_t retries_of(system& sys) {
  std::int64_t sum = 0;
  for (const auto* name : {"environments", "policies", "rewards"}) {
    sum += static_cast<std::int64_t>(detail::core_of(sys).find_service(name)->retries.load());
  }
  return sum;
}

/// Ends the load, and waits for those who are in the middle of something.
task<> end_load(group& g, load& l) {
  l.ending = true;
  try {
    co_await with_timeout(g.join(), 2 * hung_after);
  } catch (const call_error&) {  // Those that are left count as hung.
  }
}

task<> kill_loaded(group& g, system& sys, load& l, const driver_options& options, findings& found) {
  start_load(g, l, options.callers, options.killer.seed);
  found.kills = co_await kill_at_random(sys, l.to, options.killer);
  co_await end_load(g, l);
}

task<> main_of(system& sys, const driver_options& options, int out) {
  load l;
  l.to = co_await serve_cast(sys, options.replicas);
  findings found;
  co_await with_group([&](group& g) { return kill_loaded(g, sys, l, options, found); });
  for (const auto* requests : {&l.environment, &l.policy, &l.reward}) found.requests.add(*requests);
  found.sessions = l.sessions;
  found.updates = l.updates;
  found.stale = l.stale;
  found.retries = retries_of(sys);
  print(found);
  std::fflush(stdout);

  auto figures = to_json(found);
  figures["breaches"] = breaches(found, options.promised);
  const auto line = figures.dump() + "\n";
  co_await kill_all(l.to);
  if (write(out, line.data(), line.size()) < 0) std::perror("chaos");
  co_await sleep_for(std::chrono::hours(1));
}

}  // namespace

void drive(const driver_options& options, int out) {
  system sys;
  sys.run(main_of(sys, options, out));
  _exit(1);
}

}  // namespace troupe::chaos
