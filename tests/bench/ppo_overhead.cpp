#include "actors/torch/torch.hpp"

#include "tests/bench/ppo_overhead.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"

namespace {

std::atomic<std::int64_t> allocations{0};

}  // namespace

// All of the process's, those of the libraries too.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace troupe::bench {

namespace {

constexpr std::int64_t environments = 8;
constexpr std::int64_t updates = 3;
constexpr std::uint64_t seed = 1;
constexpr int pairs = 5;

const network_shape shape{.obs_size = 4, .discrete_actions = 2};

/// What a run took.
struct cost {
  double cpu_s = 0;
  double allocations = 0;           ///< for each step
  double allocations_per_step = 0;  ///< of steps alone
};

using troupe::detail::cpu_seconds;

class meter {
 public:
  cost read(std::int64_t steps) const {
    return {cpu_seconds() - start_,
            static_cast<double>(allocations - allocated_) / static_cast<double>(steps)};
  }

 private:
  double start_ = cpu_seconds();
  std::int64_t allocated_ = allocations;
};

// ---- the bare loop: rows go straight into the tensors that the learner trains on

/// Columns of a rollout, allocated once.
struct columns {
  explicit columns(std::int64_t T) {
    const auto B = environments;
    batch.obs = at::empty({T, B, shape.obs_size}, at::kFloat);
    batch.action = at::empty({T, B}, at::kLong);
    for (auto* column : {&batch.log_prob, &batch.value, &batch.reward, &batch.final_value}) {
      *column = at::zeros({T, B}, at::kFloat);
    }
    for (auto* column : {&batch.terminated, &batch.truncated}) {
      *column = at::empty({T, B}, at::kBool);
    }
    batch.bootstrap_value = at::empty({B}, at::kFloat);
  }

  rollout_batch batch;
};

constexpr std::int64_t n_steps = 2048;  // as PPO has it by default

cost bare_loop() {
  const ppo_options options;
  ppo_learner learner(shape, options, seed);
  vector_env<cartpole> world(environments);
  action_random random(seed);
  columns to(n_steps);
  auto& batch = to.batch;
  const meter used;
  auto obs = world.reset(seed).obs;
  env_actions actions;
  for (std::int64_t update = 0; update < updates; ++update) {
    for (std::int64_t t = 0; t < n_steps; ++t) {
      const auto row = t * environments;
      auto* choice = batch.action.data_ptr<std::int64_t>() + row;
      learner.model().act(obs.data(), environments, random, false, {.choice = choice},
                          batch.log_prob.data_ptr<float>() + row,
                          batch.value.data_ptr<float>() + row);
      std::copy(obs.begin(), obs.end(), batch.obs.data_ptr<float>() + row * shape.obs_size);
      actions.discrete.assign(choice, choice + environments);
      auto after = world.step(actions);
      for (std::int64_t b = 0; b < environments; ++b) {
        const auto i = static_cast<std::size_t>(b);
        batch.reward.data_ptr<float>()[row + b] = static_cast<float>(after.reward[i]);
        batch.terminated.data_ptr<bool>()[row + b] = after.terminated[i];
        batch.truncated.data_ptr<bool>()[row + b] = after.truncated[i];
      }
      for (const auto& ended : after.finished) {
        learner.model().values(
            ended.final_obs.data(), 1,
            batch.final_value.data_ptr<float>() + row + static_cast<std::int64_t>(ended.index));
      }
      obs = std::move(after.obs);
    }
    learner.model().values(obs.data(), environments, batch.bootstrap_value.data_ptr<float>());
    learner.update(batch);
  }
  return used.read(updates * n_steps);
}

// ---- the same through actors

using ppo_trainer = trainer<on_policy_learner, training_rollouts>;

/// Allocations between steps, told by the environments.
class step_meter {
 public:
  explicit step_meter(std::int64_t n_steps) : n_steps_(n_steps) {}

  /// The time between the two steps before this one is over, and whether an episode ended is known.
  void stepped() {
    const std::int64_t now = allocations;
    const bool begins = steps_ % n_steps_ < 3;
    if (steps_ > n_steps_ && !begins && !ended_before_ && !ended_) {
      sum_ += between_;
      ++counted_;
    }
    between_ = now - last_;
    last_ = now;
    ended_before_ = std::exchange(ended_, false);
    ++steps_;
  }
  void episode_ended() { ended_ = true; }
  double mean() const { return static_cast<double>(sum_) / static_cast<double>(counted_); }

 private:
  std::int64_t n_steps_;
  std::int64_t steps_ = 0, last_ = 0, between_ = 0, sum_ = 0, counted_ = 0;
  bool ended_ = false, ended_before_ = false;
};

struct stage {
  service<ppo_trainer> learner;
  rollout_roles roles;
};

task<std::int64_t> train(stage& on, std::vector<rollout> rollouts) {
  training_rollouts batch{.rollouts = std::move(rollouts)};
  co_await on.learner.route<&ppo_trainer::train_step>(std::move(batch), 1.0,
                                                      std::optional<double>());
  co_return co_await on.learner.route<&ppo_trainer::push_weights>(on.roles.policies[0]);
}

task<cost> through_actors(system& sys) {
  const ppo_options options;
  stage on;
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  ppo_trainer::maker make = [options] {
    return std::make_unique<ppo_learner>(shape, options, seed);
  };
  on.learner = co_await sys.serve<ppo_trainer>({.name = "trainer"}, std::move(make), store);
  policy_options acting{.shape = shape, .network = {}, .seed = seed};
  auto acts = co_await sys.serve<policy>({.name = "policy"}, std::move(acting), store);
  on.roles.policies = {std::move(acts)};
  on.roles.rows = std::make_shared<const agent_rows>(shape);
  hosted_environment::factory world = [] {
    return make_vector_environment("CartPole-v1", environments);
  };
  auto meter_of_steps = std::make_shared<step_meter>(n_steps);
  env_observers observers{
      .stepped = [=](std::int64_t) { meter_of_steps->stepped(); },
      .episode_ended = [=](double, std::int64_t, bool) { meter_of_steps->episode_ended(); }};
  on.roles.environments = co_await sys.serve<hosted_environment>(
      {.name = "environments"}, std::move(world), seed, std::move(observers));
  replay_options kept{.batch = 1, .max_staleness = 1};
  on.roles.replay = co_await sys.serve<replay_queue<rollout>>({.name = "replay"}, kept);
  on.roles.n_steps = n_steps;

  const meter used;
  loops::hooks<rollout> hooks{
      .train = [&on](std::vector<rollout> rollouts) { return train(on, std::move(rollouts)); }};
  co_await loops::synchronous(on.roles, generate_rollout, std::move(hooks),
                              {.batch = 1, .updates = updates});
  auto all = used.read(updates * n_steps);
  all.allocations_per_step = meter_of_steps->mean();
  co_return all;
}

}  // namespace

overhead overhead_vs_bare_loop() {
  use_one_torch_thread();
  std::vector<double> ratios;
  overhead seen;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto bare = bare_loop();
    system sys;
    const auto actors = sys.run(through_actors(sys));
    ratios.push_back(actors.cpu_s / bare.cpu_s);
    seen.allocations_bare = bare.allocations;
    seen.allocations = actors.allocations;
    seen.allocations_per_step = actors.allocations_per_step;
  }
  std::sort(ratios.begin(), ratios.end());
  seen.ratio = ratios[ratios.size() / 2];
  return seen;
}

}  // namespace troupe::bench
