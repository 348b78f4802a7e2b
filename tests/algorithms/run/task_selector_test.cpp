#include "actors/torch/torch.hpp"

#include "algorithms/run/task_selector.hpp"

#include <algorithm>
#include <functional>

#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"

namespace troupe {
namespace {

using testing::column_of;
using testing::stage;
using columns = std::vector<double>;

/// Episodes of four steps, all of them a success; a step's reward is the level.
class ladder final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Ladder-v0",
            .observation_space = spaces::box(0.0f, 9.0f, {1}),
            .action_space = spaces::discrete(2),
            .levels = 3};
  }
  void set_level(std::size_t level) override { level_ = level; }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    steps_ = 0;
    obs[0] = static_cast<float>(level_);
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = static_cast<float>(level_);
    return {.reward = static_cast<double>(level_), .truncated = ++steps_ == 4, .success = true};
  }

 private:
  std::size_t level_ = 0;
  int steps_ = 0;
};

void register_all() {
  static const bool known = (register_environment<ladder>("Ladder-v0"), true);
  REQUIRE(known);
}

template <class Config>
Config short_run(const std::string& env) {
  register_all();
  Config config;
  config.env.id = env;
  config.env.n_envs = 2;
  config.evaluation = {.every_steps = 100, .episodes = 2, .final_episodes = 2};
  config.deterministic = true;
  return config;
}

ppo_config short_ppo(const std::string& env) {
  auto config = short_run<ppo_config>(env);
  config.total_steps = 10 * 64;
  config.rollout = {.n_steps = 32, .batch = 1, .workers = 2};
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 1;
  config.policy.hidden = {8};
  return config;
}

dqn_config short_dqn(const std::string& env) {
  auto config = short_run<dqn_config>(env);
  config.total_steps = 600;
  config.collection = {.learning_starts = 100, .train_freq = 20, .workers = 2, .max_staleness = 4};
  config.replay.capacity = 350;
  config.policy.hidden = {8};
  config.log.episodes = 1;
  return config;
}

/// With checkpoints, so that the level goes on from them.
template <class Config>
void require_ladder_climbed(Config config) {
  stage on;
  config.checkpoint.every_updates = 1;
  config.env.curriculum = curriculum_section{.promote_at = 1, .window = 16, .min_episodes = 16};
  const auto run = on.run(algorithm_with(config), config.algo).summary.value();
  const auto levels = column_of(run, "rollout/level");
  REQUIRE(levels.size() > 2);
  CHECK(levels.front() < 2);
  CHECK(levels.back() == 2);
  CHECK(std::ranges::is_sorted(levels));
  CHECK(column_of(run, "rollout/success_rate").back() == 1);
  const auto returns = column_of(run, "rollout/ep_rew_mean");
  CHECK(returns.front() < 4);  // of level 0: the environments were told
  CHECK(run.eval_mean == 8);
  const auto evaluations = column_of(run, "eval/mean_reward");
  CHECK(evaluations == columns(evaluations.size(), 8));  // at the last level, from the first
  CHECK_FALSE(run.stopped);
}

double last_of(const run_summary& run, const std::string& column) {
  const auto values = column_of(run, column);
  REQUIRE_FALSE(values.empty());
  return values.back();
}

template <class Config>
Config with_tasks(Config config) {
  config.env.max_episode_steps = 30;
  config.env.tasks = {{.id = "CartPole-v1", .floor = 0, .target = 30},
                      {.id = "Acrobot-v1", .floor = -30, .target = -10}};
  config.env.schedule.rule = loops::schedule_rule::by_need;
  return config;
}

void require_refused(const ppo_config& config, const std::string& message) {
  CHECK_THROWS_WITH(algorithm_with(config).check(), Catch::StartsWith(message));
}

}  // namespace

TEST_CASE(
    "curriculum of a run: PPO's environments climb to the last level, where evaluations are") {
  require_ladder_climbed(short_ppo("Ladder-v0"));
}

TEST_CASE("curriculum of a run: DQN's collectors climb to the last level") {
  require_ladder_climbed(short_dqn("Ladder-v0"));
}

TEST_CASE("curriculum of a run: ends once the last level is mastered, if it is to") {
  stage on;
  auto config = short_ppo("Ladder-v0");
  config.env.curriculum = curriculum_section{
      .promote_at = 1, .window = 16, .min_episodes = 16, .stop_when_mastered = true};
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  CHECK(run.stop_reason == "env.curriculum.stop_when_mastered");
  CHECK(run.stopped);
  CHECK(run.steps < config.total_steps);
}

TEST_CASE("tasks of a run: each has its turns, and evaluations are means of relative returns") {
  stage on;
  auto config = with_tasks(short_ppo("CartPole-v1"));
  config.env.n_envs = 1;
  config.evaluation.episodes = config.evaluation.final_episodes = 3;  // four, of two tasks
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  CHECK(run.env == "CartPole-v1+Acrobot-v1");
  CHECK(run.eval_episodes == 4);
  const auto means = column_of(run, "eval/mean_reward");
  const auto poles = column_of(run, "eval/CartPole-v1/mean_reward");
  const auto arms = column_of(run, "eval/Acrobot-v1/mean_reward");
  REQUIRE(poles.size() == means.size());
  REQUIRE(arms.size() == means.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    CHECK(arms[i] == -30);  // it takes longer
    CHECK(poles[i] > 0);
    CHECK(std::abs(means[i] - (poles[i] / 30 + (arms[i] + 30) / 20) / 2) < 1e-9);
  }
  CHECK(last_of(run, "rollout/Acrobot-v1/ep_rew_mean") == -30);
  CHECK(last_of(run, "rollout/CartPole-v1/ep_rew_mean") > 8);
}

TEST_CASE("tasks of a run: end once all have reached their targets, if they are to") {
  stage on;
  auto config = with_tasks(short_ppo("CartPole-v1"));
  config.env.tasks = {{.id = "CartPole-v1", .floor = 0, .target = 1},
                      {.id = "Acrobot-v1", .floor = -40, .target = -31}};
  config.env.schedule.window = 2;
  const auto endless = on.run(algorithm_with(config), "endless").summary.value();
  CHECK_FALSE(endless.stopped);
  CHECK(endless.steps == config.total_steps);
  config.env.schedule.stop_when_learned = true;
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  CHECK(run.stop_reason == "env.schedule.stop_when_learned");
  CHECK(run.stopped);
  CHECK(run.steps < config.total_steps);
}

TEST_CASE("tasks of a run: what does not fit is refused by its option's name") {
  auto config = short_ppo("CartPole-v1");
  config.env.curriculum = curriculum_section{};
  require_refused(config, "/env/curriculum: expected null, as CartPole-v1 tells no levels");
  config.env.tasks = {{.id = "CartPole-v1"}, {.id = "Acrobot-v1"}};
  require_refused(config, "/env/curriculum: expected null with env.tasks");
  config.env.curriculum.reset();
  CHECK_NOTHROW(algorithm_with(config).check());
  config.env.tasks = {{.id = "CartPole-v1"}, {.id = "Pendulum-v1"}};
  require_refused(config, "/env/tasks: Pendulum-v1: expected actions of the kind");
  config.env.tasks = {{.id = "CartPole-v1"}, {.id = "CatchSmall-v0"}};
  require_refused(config, "/env/tasks: ");
  config.env.tasks = {{.id = "CartPole-v1"}, {.id = "CartPole-v1"}};
  require_refused(config, "/env/tasks: task CartPole-v1: name: expected one that no other task");
  config.env.tasks = {{.id = "CartPole-v1"}, {.id = "NoWhere-v1"}};
  require_refused(config, "/env/tasks: ");
  config.env.tasks = {{.id = "CartPole-v1", .floor = 3, .target = 2}};
  require_refused(config, "/env/tasks: task CartPole-v1: target: expected a return above");
}

}  // namespace troupe
