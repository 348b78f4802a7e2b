// What messaging costs, in CPU time of this process, bound to one core, with one worker thread.
//
//   episode_steps_per_s       16 episodes at once: each step is a routed call to the one policy and
//                             one to the episode's own environment, 17 actors and the caller
//   request_overhead_ratio    a routed call over `request(..., infinite).then` of two CAF actors
//   batched_env_steps_per_s   CartPole, 256 environments a message, through a service
//
// Metrics, deadlines and bounds are on. Runs of a kind alternate with those of the others, so that
// a machine that slows down slows all of them. Best and median of the runs are printed.

#include <sched.h>

#include <algorithm>
#include <array>
#include <caf/all.hpp>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr int concurrency = 16;
constexpr int rounds = 9;

using troupe::detail::cpu_seconds;

void stay_on_one_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
}

struct figure {
  double best, median;
};

figure figure_of(std::vector<double> values, bool more_is_better) {
  std::sort(values.begin(), values.end());
  return {more_is_better ? values.back() : values.front(), values[values.size() / 2]};
}

// ---- episodes: an observation to the policy, its action to the environment

constexpr int episode_length = 200;

struct observation {
  std::array<float, 4> x;
};

struct toy_environment {
  observation reset() {
    steps = 0;
    return {};
  }
  std::tuple<observation, float, bool> step(int action) {
    sum += static_cast<float>(action);
    return {observation{sum, sum, sum, sum}, 1.f, ++steps >= episode_length};
  }
  float sum = 0;
  int steps = 0;
};

struct toy_policy {
  int act(const observation& obs) { return obs.x[0] > 0 ? 1 : -1; }
};

task<int> run_episodes(session<toy_environment> env, service<toy_policy> policy, int episodes) {
  int steps = 0;
  for (int i = 0; i < episodes; ++i) {
    observation obs = co_await env.route<&toy_environment::reset>();
    for (bool ended = false; !ended; ++steps) {
      const int action = co_await policy.route<&toy_policy::act>(obs);
      const auto seen = co_await env.route<&toy_environment::step>(action);
      obs = std::get<0>(seen);
      ended = std::get<2>(seen);
    }
  }
  co_return steps;
}

/// Environment steps per CPU second.
task<double> episode_steps(system& sys) {
  auto policy = co_await sys.serve<toy_policy>({.name = "policy", .deadline = 10s});
  auto environments = co_await sys.serve<toy_environment>(
      {.name = "environment", .replicas = concurrency, .deadline = 10s});
  std::vector<task<int>> episodes;
  for (int i = 0; i < concurrency; ++i) {
    auto own = co_await environments.session();
    episodes.push_back(run_episodes(own, policy, 60));
  }
  const double start = cpu_seconds();
  const auto steps = co_await all(std::move(episodes));
  const double took = cpu_seconds() - start;
  double sum = 0;
  for (const int n : steps) sum += n;
  co_return sum / took;
}

// ---- requests: one caller, one callee, 16 in flight

constexpr int requests = 20'000;  // Each of the 16.

struct successor {
  int of(int n) { return n + 1; }
};

task<int> count_up(service<successor> to) {
  int n = 0;
  while (n < requests) n = co_await to.route<&successor::of>(n);
  co_return n;
}

/// CPU seconds per routed call.
task<double> routed_call(system& sys) {
  auto to = co_await sys.serve<successor>({.name = "successor", .deadline = 10s});
  std::vector<task<int>> callers;
  for (int i = 0; i < concurrency; ++i) callers.push_back(count_up(to));
  const double start = cpu_seconds();
  co_await all(std::move(callers));
  co_return (cpu_seconds() - start) / (concurrency * requests);
}

caf::behavior bare_successor(caf::event_based_actor*) {
  return {[](int n) { return n + 1; }};
}

class bare_caller : public caf::event_based_actor {
 public:
  bare_caller(caf::actor_config& config, double& seconds)
      : caf::event_based_actor(config), seconds_(seconds) {}

 private:
  caf::behavior make_behavior() override {
    to_ = spawn(bare_successor);
    send(this, caf::ok_atom::value);
    return {[this](caf::ok_atom) {
      start_ = cpu_seconds();
      for (int i = 0; i < concurrency; ++i) ask(0);
    }};
  }
  void ask(int n) {
    request(to_, caf::infinite, n).then([this](int next) {
      if (next < requests) return ask(next);
      if (--left_ > 0) return;
      seconds_ = (cpu_seconds() - start_) / (concurrency * requests);
      send_exit(to_, caf::exit_reason::user_shutdown);
      quit();
    });
  }

  double& seconds_;
  caf::actor to_;
  double start_ = 0;
  int left_ = concurrency;
};

/// CPU seconds per CAF request, under the scheduler that troupe::system chooses.
double bare_request() {
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", std::size_t{1});
  config.set("scheduler.max-throughput", std::size_t{100});
  caf::actor_system actors(config);
  double seconds = 0;
  actors.spawn<bare_caller>(std::ref(seconds));
  actors.await_all_actors_done();
  return seconds;
}

// ---- batched environments

constexpr std::size_t batch_size = 256;
using cartpoles = vector_env<cartpole>;

/// Environment steps per CPU second.
task<double> batched_steps(system& sys) {
  constexpr int messages = 20'000;
  auto environments =
      co_await sys.serve<cartpoles>({.name = "environment", .deadline = 10s}, batch_size);
  co_await environments.route<&cartpoles::reset>(std::optional<std::uint64_t>(1));
  env_actions actions;
  for (std::size_t i = 0; i < batch_size; ++i) actions.discrete.push_back(i % 2);
  const double start = cpu_seconds();
  for (int i = 0; i < messages; ++i) {
    const auto seen = co_await environments.route<&cartpoles::step>(actions);
    for (auto& action : actions.discrete) action ^= 1;
  }
  co_return static_cast<double>(messages * batch_size) / (cpu_seconds() - start);
}

double measure(task<double> (*what)(system&)) {
  system sys({.threads = 1});
  return sys.run(what(sys));
}

void measure_all(bool json) {
  stay_on_one_core();
  std::vector<double> steps, routed, bare, ratios, batched;
  for (int i = 0; i < rounds; ++i) {
    steps.push_back(measure(episode_steps));
    routed.push_back(measure(routed_call));
    bare.push_back(bare_request());
    ratios.push_back(routed.back() / bare.back());
    batched.push_back(measure(batched_steps));
  }
  const auto episode = figure_of(steps, true);
  const auto call = figure_of(routed, false);
  const auto request = figure_of(bare, false);
  const auto overhead = figure_of(ratios, false);
  const auto batch = figure_of(batched, true);
  std::printf("CPU time of one core, %d runs             best     median\n", rounds);
  std::printf("episode steps per s               %12.0f %10.0f\n", episode.best, episode.median);
  std::printf("a routed call, ns                 %12.0f %10.0f\n", call.best * 1e9,
              call.median * 1e9);
  std::printf("a bare CAF request, ns            %12.0f %10.0f\n", request.best * 1e9,
              request.median * 1e9);
  std::printf("routed call / CAF request         %12.2f %10.2f\n", overhead.best, overhead.median);
  std::printf("batched CartPole steps per s      %12.0f %10.0f\n", batch.best, batch.median);
  if (json) {
    const nlohmann::json figures = {
        {"episode_steps_per_s", episode.median},     {"episode_steps_per_s_best", episode.best},
        {"request_overhead_ratio", overhead.median}, {"request_overhead_ratio_best", overhead.best},
        {"batched_env_steps_per_s", batch.median},   {"batched_env_steps_per_s_best", batch.best}};
    std::printf("%s\n", figures.dump().c_str());
  }
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  troupe::measure_all(argc > 1 && std::strcmp(argv[1], "--json") == 0);
  return 0;
}
