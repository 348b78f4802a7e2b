// What a run hands to its learner and its recorder, looked at in what it leaves.

#include "actors/torch.hpp"

#include <set>

#include "actors/env/registry.hpp"
#include "algorithms/dqn/dqn.hpp"
#include "algorithms/sac/sac.hpp"
#include "algorithms/td3/td3.hpp"
#include "tests/algorithms/off_policy/stage.hpp"
#include "tests/algorithms/off_policy/toy_rule.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Its observation counts its steps, whatever is done and however it is seeded, so that it says
/// which transition a row is. Rewards are 0 to 4 in turn; every tenth step is an episode's last.
class counting_env final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Counting-v0",
            .observation_space = spaces::box(0.0f, 1e6f, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    obs[0] = static_cast<float>(steps_);
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = static_cast<float>(++steps_);
    return {.reward = static_cast<double>(steps_ % 5), .truncated = steps_ % 10 == 0};
  }
  bool save(state_writer& to) const override {
    to.put("steps", steps_);
    return true;
  }
  void restore(const state_reader& from) override { from.get("steps", steps_); }

 private:
  std::int64_t steps_ = 0;
};

const bool counting_is_known = (register_environment<counting_env>("Counting-v0"), true);

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

TEST_CASE("off-policy run: a row has the means over the gradient steps since the row before") {
  stage on;
  auto config = plain_run<off_policy_config>(400);
  config.env.id = "Counting-v0";
  config.log.episodes = 2;
  config.checkpoint.every_updates = 3;
  const auto algorithm = toy_algorithm(config, network_kind::q_values);
  const auto whole = on.run(algorithm, "whole").summary.value();
  const auto ends = column_of(whole, "train/n_updates");
  const auto means = column_of(whole, "train/number"), fifths = column_of(whole, "train/fifth");
  REQUIRE(ends.size() > 10);
  REQUIRE(means.size() == ends.size());
  double before = 0;
  std::vector<double> expected_fifths;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CAPTURE(i);
    CHECK(ends[i] > before);
    CHECK(means[i] == Approx((before + 1 + ends[i]) / 2));
    const double first = 5 * std::ceil((before + 1) / 5), last = 5 * std::floor(ends[i] / 5);
    if (first <= last) expected_fifths.push_back((first + last) / 2);
    before = ends[i];
  }
  CHECK(fifths == expected_fifths);

  const auto pieces = on.run_in_pieces(algorithm, "pieces", 4).summary.value();
  CHECK(pieces.resumed_from_step > 0);
  CHECK(column_of(pieces, "train/number") == means);
  CHECK(column_of(pieces, "train/fifth") == fifths);
}

TEST_CASE("off-policy run: rows have Stable-Baselines3's columns, and only what was worked out") {
  stage on;
  const auto columns = [&on](auto config, std::set<std::string> names) {
    config.trainer.batch_size = 8;
    config.policy.hidden = {4};
    const auto run = on.run(trainable_of(config), config.algo).summary.value();
    std::erase_if(names,
                  [&](const std::string& name) { return column_of(run, "train/" + name).empty(); });
    return names;
  };
  using names = std::set<std::string>;
  const names all = {"loss",          "actor_loss",    "critic_loss", "ent_coef",
                     "ent_coef_loss", "learning_rate", "n_updates"};
  CHECK(columns(plain_run<dqn_config>(200), all) == names{"loss", "learning_rate", "n_updates"});
  auto sac = plain_run<sac_config>(204);
  names expected = all;
  expected.erase("loss");
  CHECK(columns(sac, all) == expected);
  sac.trainer.ent_coef = 0.1;
  expected.erase("ent_coef_loss");
  CHECK(columns(sac, all) == expected);
  auto td3 = plain_run<td3_config>(204);
  expected.erase("ent_coef");
  CHECK(columns(td3, all) == expected);
  td3.trainer.policy_delay = 1000;
  expected.erase("actor_loss");
  CHECK(columns(td3, all) == expected);
}

}  // namespace
}  // namespace troupe
