// What a run hands to its learner, looked at in what it leaves.

#include "actors/torch.hpp"

#include <set>

#include "algorithms/dqn/dqn.hpp"
#include "tests/algorithms/off_policy/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// One environment, four steps a collection, and a checkpoint at the end.
template <class Config>
Config plain_run(std::int64_t steps) {
  Config config;
  config.total_steps = steps;
  config.collection = {.learning_starts = 0, .train_freq = 4, .gradient_steps = 2};
  config.replay.capacity = 10'000;
  config.evaluation = {.every_steps = 0, .episodes = 1, .final_episodes = 1};
  config.checkpoint = {.every_updates = 1'000'000, .keep = 1000};
  config.log.episodes = 1;
  config.deterministic = true;
  return config;
}

/// The learner's state after the update at `steps` environment steps.
state_reader learner_of(const training_summary& run, std::int64_t steps) {
  const state_reader trainer(file_of(checkpoints_of(run).load(steps), "trainer.cbor"));
  return state_reader(trainer.get<std::string>("learner"));
}

using floats = std::vector<float>;

/// The target's movement over the updates of a run, by hand from what the online network was.
void follow_target(const training_summary& run, double tau, std::int64_t every, int n_envs) {
  const std::int64_t steps = 4 * n_envs;  // of a collection; the first update is after two
  auto target = learner_of(run, 2 * steps).get<floats>("target");
  for (std::int64_t update = 2; update <= 6; ++update) {
    CAPTURE(update);
    const auto online = learner_of(run, update * steps).get<floats>("parameters");
    for (auto step = 4 * update + 1; step <= 4 * (update + 1); ++step) {
      if (step % every != 0) continue;
      for (std::size_t i = 0; i < target.size(); ++i) {
        target[i] = static_cast<float>((1 - tau) * target[i] + tau * online[i]);
      }
    }
    const auto after = learner_of(run, (update + 1) * steps);
    const auto found = after.get<floats>("target");
    REQUIRE(found.size() == target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
      CHECK(found[i] == Approx(target[i]).margin(1e-6));
    }
    CHECK(after.get<floats>("parameters") != online);
  }
}

TEST_CASE("off-policy run: DQN's target moves once an interval, several times a collection too") {
  stage on;
  for (const int n_envs : {1, 2}) {
    for (const double tau : {0.25, 1.0}) {
      std::set<floats> ends;
      for (const std::int64_t interval : {1, 2, 4, 8}) {
        CAPTURE(n_envs, tau, interval);
        auto config = plain_run<dqn_config>(28 * n_envs);
        config.env.n_envs = n_envs;
        config.collection.learning_starts = 8 * n_envs - 1;
        config.checkpoint.every_updates = 1;
        config.trainer.batch_size = 8;
        config.trainer.lr = 0.01;
        config.trainer.tau = tau;
        config.trainer.target_update_interval = interval * n_envs;  // environment steps
        config.policy.hidden = {4};
        const auto run = on.run(trainable_of(config), "run").summary.value();
        REQUIRE(run.steps == config.total_steps);
        follow_target(run, tau, interval, n_envs);
        ends.insert(learner_of(run, run.steps).get<floats>("target"));
      }
      CHECK(ends.size() == (tau == 1 ? 2 : 4));  // a copy is the same, however often it is made
    }
  }
}

}  // namespace
}  // namespace troupe
