#include "actors/torch/torch.hpp"

#include "tests/bench/openenv_loops.hpp"

#include <chrono>
#include <cstdio>

#include "actors/environments/vector_env.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/slow_symbols.hpp"

namespace troupe::openenv {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t rollouts = 32;  // of one update

/// What both loops do in one comparison.
struct setting {
  std::string prefix = {};  // of the results' names
  std::int64_t updates = 40;
  std::size_t async_rollouts = rollouts;           // under way at once in the asynchronous loop
  std::int64_t async_staleness = 4;                // that its replay takes at most
  bool explores = false;                           // also where the return is measured
  clock::duration update_time = slow_update_time;  // below it an update waits
  ppo_options learning{{.lr = 1e-3, .batch_size = 64, .n_epochs = 4}};
};

using ppo_trainer = trainer<on_policy_learner, training_rollouts>;

struct services {
  service<ppo_trainer> learner;
  rollout_roles roles, evaluation;
};

task<services> serve_roles(system& sys, std::string url, setting with, bool async) {
  const auto spec = slow_symbols().spec();
  const auto shape = shape_of(spec);
  ppo_trainer::maker make = [=, options = with.learning] {
    return std::make_unique<ppo_learner>(shape, options, 1);
  };
  const auto store = co_await sys.serve<weight_store>({.name = "weights"});
  services made;
  made.learner = co_await sys.serve<ppo_trainer>({.name = "trainer"}, make, store);
  const policy_options acting{.shape = shape, .network = with.learning.network, .seed = 1};
  const auto policies = co_await sys.serve<policy>({.name = "policy"}, acting, store);
  const auto sessions = [=](std::size_t count) -> hosted_environment::factory {
    return [=] { return make_numeric_worlds(served_view(spec), {.urls = {url}}, count); };
  };
  const auto one = sessions(1), many = sessions(rollouts);
  const auto at_once = async ? with.async_rollouts : rollouts;
  serve_options hosting{.name = "worlds", .replicas = at_once, .placement = placement::thread};
  const auto worlds = co_await sys.serve<hosted_environment>(hosting, one, std::uint64_t{1});
  serve_options judging{.name = "evaluation", .placement = placement::thread};
  const auto evaluation =
      co_await sys.serve<hosted_environment>(judging, many, std::uint64_t{1000});
  const replay_options kept{.batch = rollouts, .max_staleness = async ? with.async_staleness : 0};
  const auto replay = co_await sys.serve<replay_queue<rollout>>({.name = "replay"}, kept);
  const auto rows = std::make_shared<const agent_rows>(shape);
  made.roles = {worlds, {policies}, replay, rows, slow_symbols::episode_steps};
  made.evaluation = {evaluation, {policies}, replay, rows, slow_symbols::episode_steps};
  made.evaluation.deterministic = !with.explores;
  co_return made;
}

/// One update, which takes `update_time` or what it computes for. `version`: of the weights in use;
/// `spent`: in seconds, of all updates.
task<std::int64_t> train(services with, clock::duration update_time, std::int64_t* version,
                         double* spent, std::vector<rollout> made) {
  const auto began = clock::now();
  training_rollouts batch;
  for (const auto& one : made) batch.stale = batch.stale || one.version != *version;
  batch.rollouts = std::move(made);
  co_await with.learner.route<&ppo_trainer::train_step>(std::move(batch), 1.0,
                                                        std::optional<double>());
  *version = co_await with.learner.route<&ppo_trainer::push_weights>(with.roles.policies[0]);
  const auto left = update_time - (clock::now() - began);
  if (left > 0ms) co_await sleep_for(left);
  *spent += std::chrono::duration<double>(clock::now() - began).count();
  co_return *version;
}

struct measured {
  double steps_per_second = 0, training_fraction = 0, update_s = 0, final_return = 0;
  std::int64_t staleness_max = 0;
};

std::vector<double> returns_of(const rollout& made) {
  std::vector<double> returns;
  for (const auto& episode : made.episodes) returns.push_back(episode.episode_return);
  return returns;
}

task<measured> run_loop(system& sys, std::string url, setting of, bool async) {
  const auto with = co_await serve_roles(sys, url, of, async);
  std::int64_t version = 0;
  double spent = 0;
  loops::hooks<rollout> hooks{
      .train =
          [&](std::vector<rollout> made) {
            return train(with, of.update_time, &version, &spent, std::move(made));
          },
      .steps = [](const rollout& made) { return made.steps * made.environments; }};
  const loops::asynchronous_options overlapping{.rollouts = of.async_rollouts,
                                                .updates = of.updates};
  const loops::synchronous_options in_turn{.batch = rollouts, .updates = of.updates};
  auto looping = async ? loops::asynchronous(with.roles, generate_rollout, hooks, overlapping)
                       : loops::synchronous(with.roles, generate_rollout, hooks, in_turn);
  const auto totals = co_await std::move(looping);
  const auto seen = co_await with.roles.replay.route<&replay_queue<rollout>::counts>();
  const auto mean_score =
      loops::mean_score(with.evaluation, generate_rollout, returns_of, 4 * rollouts);
  const double final_return = co_await mean_score({});
  co_return measured{static_cast<double>(totals.steps) / totals.wall, spent / totals.wall,
                     spent / double(of.updates), final_return, seen.staleness_max};
}

measured measure(const std::string& url, const setting& of, bool async) {
  system sys({.threads = 2});
  const auto seen = sys.run(run_loop(sys, url, of, async));
  std::printf(
      "  %s: %.0f steps/s, training %.0f %% of the time, staleness up to %lld, return %.2f\n",
      async ? "asynchronous" : "synchronous ", seen.steps_per_second, 100 * seen.training_fraction,
      static_cast<long long>(seen.staleness_max), seen.final_return);
  return seen;
}

void compare(const std::string& url, const setting& of, nlohmann::json& results) {
  const auto result = [&](const char* name) -> auto& { return results[of.prefix + name]; };
  const auto sync = measure(url, of, false);
  const auto async = measure(url, of, true);
  const double gain = async.steps_per_second / sync.steps_per_second;
  const double ceiling = async_ceiling(rollouts, sync.update_s);
  result("async_over_sync") = gain;
  result("async_over_sync_ceiling") = ceiling;
  result("async_over_sync_barrier_part") = barrier_part(rollouts, sync.update_s);
  result("sync_training_fraction") = sync.training_fraction;
  result("sync_update_s") = sync.update_s;
  result("sync_return") = sync.final_return;
  result("async_return") = async.final_return;
  result("async_staleness_max") = async.staleness_max;
  std::printf(
      "  %zu and %zu rollouts at once, %lld updates of %.2f s: asynchronous over synchronous %.2f; "
      "the server's times allow %.2f, of which not waiting for the longest episode is %.2f\n",
      rollouts, of.async_rollouts, static_cast<long long>(of.updates), sync.update_s, gain, ceiling,
      barrier_part(rollouts, sync.update_s));
}

}  // namespace

void measure_loops(nlohmann::json& results) {
  use_one_torch_thread();
  metrics_registry metrics;
  setting easy;
  setting stale{.prefix = "stale_",
                .updates = 6,
                .async_rollouts = 4 * rollouts,
                .async_staleness = 8,
                .explores = true};
  setting computing{.prefix = "computing_", .updates = 20, .update_time = {}};
  computing.learning.n_epochs = 10;
  computing.learning.network.hidden = {256, 256};
  // As many threads as there may be steps under way.
  const openenv_server::server slow([] { return std::make_unique<vector_env<slow_symbols>>(1); },
                                    {.port = 0, .threads = 2 * stale.async_rollouts}, metrics);
  const auto url = "http://127.0.0.1:" + std::to_string(slow.port());
  for (const auto& each : {easy, stale, computing}) compare(url, each, results);
}

}  // namespace troupe::openenv
