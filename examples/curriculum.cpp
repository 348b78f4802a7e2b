// PPO learns to balance a pole for ten seconds by a curriculum: first for one second, then for two,
// four and seven. The next level begins once nine of ten episodes succeed.
//
// The cast:
//   timed_cartpole  an environment: a pole that is to be balanced until its level's time is up
//   classroom       a role: eight of them, which take a level and hand in how episodes went
//   levels          the rule of promotion; a callback of the loop asks it after each update
// and from Troupe PPO's own: policies, replay, trainer, weights.
//
//   build/release/examples/curriculum [--seed N]
//
// Ends after a few seconds with the last level mastered; a line for each level on the way.

#include <cstdio>

#include "actors/env/cartpole.hpp"
#include "actors/env/vector_env.hpp"
#include "actors/policy/shape_of.hpp"
#include "actors/torch_threads.hpp"
#include "actors/trainer/trainer.hpp"
#include "algorithms/loops/callbacks.hpp"
#include "algorithms/loops/curriculum.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/rollout_learner.hpp"
#include "runtime/run.hpp"

using namespace troupe;

constexpr std::int64_t time_limits[] = {50, 100, 200, 350, 500};  // of each level, steps of 20 ms

/// What the environments of one classroom share with it: its level, and the grades.
struct desk {
  std::size_t level = 0;
  std::vector<loops::graded_episode> graded;
};

class timed_cartpole final : public environment {
 public:
  explicit timed_cartpole(std::shared_ptr<desk> at) : desk_(std::move(at)) {}

  env_spec spec() const override { return pole_.spec(); }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    pole_.reset(seed, obs);
    level_ = desk_->level;
    steps_ = 0;
  }

  step_result step(action_view action, std::span<float> obs) override {
    auto result = pole_.step(action, obs);
    result.truncated = ++steps_ == time_limits[level_];
    if (result.terminated || result.truncated) {
      desk_->graded.push_back({level_, !result.terminated});
    }
    return result;
  }

 private:
  std::shared_ptr<desk> desk_;
  cartpole pole_;
  std::size_t level_ = 0;  // at which this episode began
  std::int64_t steps_ = 0;
};

// readme: classroom
/// A hosted_environment with two endpoints more, which loops::curriculum calls.
class classroom : public hosted_environment {
 public:
  classroom(const replica_info& info, std::uint64_t seed)
      : classroom(info, seed, std::make_shared<desk>()) {}

  void set_level(std::size_t level) { desk_->level = level; }
  std::vector<loops::graded_episode> take_graded() { return std::exchange(desk_->graded, {}); }

 private:
  classroom(const replica_info& info, std::uint64_t seed, std::shared_ptr<desk> at)
      : hosted_environment(info, [at] { return make(at); }, seed), desk_(at) {}

  static std::unique_ptr<vector_environment> make(std::shared_ptr<desk> at) {
    return std::make_unique<vector_env<std::unique_ptr<environment>>>(
        8, [at] { return std::make_unique<timed_cartpole>(at); });
  }
  std::shared_ptr<desk> desk_;
};
// readme: end

using ppo_trainer = trainer<rollout_learner>;

/// One update, after which every policy has the new weights.
task<std::int64_t> train(service<ppo_trainer> learner, service<policy> policies,
                         std::vector<rollout> rollouts) {
  rollout_learner::batch batch{.rollouts = std::move(rollouts)};
  co_await learner.route<&ppo_trainer::train_step>(std::move(batch));
  co_return co_await learner.route<&ppo_trainer::push_weights>(policies);
}

/// A callback of our own: prints each level when it is reached.
task<loops::verdict> announce(const loops::curriculum_levels& levels, std::size_t& announced,
                              loops::progress now) {
  for (; announced < levels.level(); ++announced) {
    std::printf("level %zu: %lld steps to balance, after %lld steps of training\n", announced + 1,
                static_cast<long long>(time_limits[announced + 1]),
                static_cast<long long>(now.steps));
  }
  co_return loops::verdict::go_on;
}

task<> main_task(troupe::system& sys) {
  const auto seed = sys.options().seed;
  const auto shape = shape_of(cartpole().spec());
  ppo_options options{.n_steps = 128, .batch_size = 128};
  options.lr = 1e-3;
  options.gamma = 0.98;
  std::function<rollout_learner()> make = [=] {
    return rollout_learner(ppo_learner(shape, options, seed));
  };

  const auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto learner = co_await sys.serve<ppo_trainer>({.name = "trainer"}, make, store);
  const auto rooms = co_await sys.serve<classroom>({.name = "classrooms"}, seed);
  rollout_roles roles{.environments = rooms, .n_steps = options.n_steps};
  roles.policies = co_await sys.serve<policy>(
      {.name = "policy"}, policy_options{.shape = shape, .network = {}, .seed = seed}, store);
  roles.replay = co_await sys.serve<replay_queue<rollout>>({.name = "replay"}, replay_options{});

  // readme: curriculum
  loops::curriculum_levels levels({.levels = 5, .promote_at = 0.9, .window = 20});
  std::size_t announced = 0;
  const auto tell = [&](loops::progress now) { return announce(levels, announced, now); };
  loops::hooks<rollout> hooks{
      .train = [&](auto rollouts) { return train(learner, roles.policies, std::move(rollouts)); },
      .called = loops::in_turn({loops::curriculum(levels, rooms), tell}),
      .steps = [](const rollout& r) { return r.steps * r.environments; }};
  const auto done = co_await loops::synchronous(roles, generate_rollout, hooks, {.updates = 400});
  // readme: end

  std::printf("%s after %lld steps: %.0f %% of the last episodes at level %zu succeeded\n",
              levels.mastered() ? "mastered" : "NOT mastered", static_cast<long long>(done.steps),
              100 * levels.success_rate(), levels.level());
  if (!levels.mastered()) throw std::runtime_error("the last level was not mastered");
}

int main(int argc, char** argv) {
  use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
