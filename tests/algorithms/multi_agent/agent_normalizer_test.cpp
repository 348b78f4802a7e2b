#include "actors/torch/torch.hpp"

#include "actors/environments/obs_scale.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"
#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"
#include "algorithms/on_policy/policy_rows.hpp"
#include "algorithms/run/initial_model.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using floats = std::vector<float>;
using stage = testing::quiet_stage;

/// Three agents of one policy that take turns, whose rows are [observation, number (3), mask (3)].
struct three_in_turns {
  env_spec spec = testing::turns().spec();
  network_shape shape = joint_shape(spec, {"p", "p", "p"}, {});
  agent_rows rows{shape, spec.action_space};
  run_normalizer run{{normalized_columns(rows, 0)}, false};

  /// The row of an environment in which `active` acts. Player i sees 10 (i + 1), and choice i is
  /// forbidden to it.
  recycled_vector<float> joint(std::size_t active) const {
    recycled_vector<float> row(rows.width());
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& agent = rows.agents()[i];
      row[static_cast<std::size_t>(agent.obs_begin)] = 10 * static_cast<float>(i + 1);
      for (std::size_t choice = 0; choice < 3; ++choice) {
        row[static_cast<std::size_t>(agent.mask_begin) + choice] = choice != i;
      }
      row[static_cast<std::size_t>(agent.active)] = i == active;
    }
    return row;
  }
};

mappo_config short_run() {
  testing::register_test_worlds();
  mappo_config config;
  config.env = {.id = "Meeting-v0", .n_envs = 4, .normalize_obs = true};
  config.total_steps = 6 * 4 * 16;
  config.rollout.n_steps = 16;
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .final_episodes = 4};
  config.deterministic = true;
  return config;
}

saved_model last_model(stage& on, const auto& config, const std::string& name) {
  const run_result made = on.run(config, name);
  return load_model(run_directory::open(made.run_directory).last_model());
}

}  // namespace

TEST_CASE("rollout_normalizer: agents that wait do not count, and numbers and masks stay") {
  const three_in_turns of;
  auto one = of.run.begin(0);
  policy_rows seen(of.rows, &one);
  for (const std::size_t active : {0, 1}) {
    seen.see(of.joint(active));
    seen.count();
  }
  CHECK(one.seen().obs.at(0).width() == 1);
  CHECK(one.seen().obs.at(0).count() == 2);
  CHECK(one.seen().obs.at(0).mean()[0] == Approx(15));  // of 10 and 20: player 2 has not acted
  CHECK(one.seen().obs.at(0).variance()[0] == Approx(25));
  seen.normalize();
  const auto rows = seen.of(0);
  const auto width = rows.size() / 3;
  REQUIRE(width == 7);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = rows.subspan(i * width, width);
    CHECK(row[0] == Approx((10.0 * static_cast<double>(i + 1) - 15) / 5).epsilon(1e-3));
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(row[1 + j] == (i == j ? 1 : 0));  // its number
      CHECK(row[4 + j] == (i == j ? 0 : 1));  // its mask
    }
  }
  // The environment's own row stays as it is, for what is asked of it.
  CHECK(std::ranges::equal(seen.joint(0), of.joint(1)));
}

TEST_CASE("run_normalizer: the weights' statistics leave numbers and masks as they are") {
  three_in_turns of;
  auto one = of.run.begin(0);
  policy_rows seen(of.rows, &one);
  seen.see(of.joint(1));
  seen.count();
  of.run.take_in({of.run.end(one)});
  const auto moments = of.run.obs().at(0);
  REQUIRE(moments.width() == 7);
  floats scale(14);
  detail::write_obs_scale(moments.mean(), moments.variance(), scale.data());
  CHECK(scale[0] == Approx(20).epsilon(1e-3));
  for (std::size_t i = 1; i < 7; ++i) {
    CHECK(scale[i] == 0);
    CHECK(scale[7 + i] == 1);
  }
  run_normalizer other{{normalized_columns(of.rows, 0)}, false};
  other.start_from(0, moments);
  CHECK(other.obs().at(0).mean()[0] == moments.mean()[0]);
  other.restore(of.run.save());
  CHECK(other.save() == of.run.save());
}

TEST_CASE("mappo: with normalize_obs each policy has the statistics of its own agents' rows") {
  stage on;
  auto config = short_run();
  config.agents.share = false;
  const auto model = last_model(on, config, "apart");
  REQUIRE(model.shape.policies.size() == 2);
  for (std::size_t policy = 0; policy < 2; ++policy) {
    // Places are 0 to 4: an agent's own, the other's, and both in the state behind.
    const auto seen = obs_statistics_of(model, policy);
    REQUIRE(seen.width() == 4);
    for (const double mean : seen.mean()) CHECK((mean > 0.8 && mean < 3.2));
    for (const double variance : seen.variance()) CHECK((variance > 0.5 && variance < 4.5));
  }
  const auto first = obs_statistics_of(model, 0), second = obs_statistics_of(model, 1);
  CHECK(first.mean()[0] == Approx(second.mean()[1]));  // each sees the other's place second
  CHECK(first.mean()[2] == Approx(second.mean()[2]));
  CHECK(first.mean()[0] != Approx(second.mean()[0]));
}

TEST_CASE("ippo: a frozen policy without a model sees observations as they are") {
  stage on;
  ippo_config config;
  static_cast<multi_agent_on_policy_config&>(config) = short_run();
  config.algo = "ippo";
  config.critic = central_input::none;
  config.agents.share = false;
  config.agents.frozen = {"walker_1"};
  const auto model = last_model(on, config, "frozen");
  const auto learns = obs_statistics_of(model, 0), frozen = obs_statistics_of(model, 1);
  for (const double mean : learns.mean()) CHECK(mean > 0.8);
  for (const double mean : frozen.mean()) CHECK(mean == 0);
}

}  // namespace troupe
