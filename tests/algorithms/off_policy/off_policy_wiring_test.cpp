// What a run hands to its collectors, its replay and its learner, looked at in what it leaves.

#include "actors/torch/torch.hpp"

#include <cmath>
#include <set>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "tests/algorithms/off_policy/toy_rule.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/runtime/metrics/text.hpp"
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

/// Pays so much that the square of an error is no float.
class rich_env final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Rich-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::box(-1.0f, 1.0f, {1})};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 0; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = 1e38, .terminated = true};
  }
};

const bool rich_is_known = (register_environment<rich_env>("Rich-v0"), true);

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

/// The same with networks that stay as they were made: no step of such a size changes a float.
template <class Config>
Config frozen_run(std::int64_t steps) {
  auto config = plain_run<Config>(steps);
  config.trainer.batch_size = 8;
  config.trainer.lr = 1e-30;
  config.policy.hidden = {16};
  return config;
}

/// What the replay holds at a run's end, as columns.
state_reader rows_of(const run_summary& run) {
  return state_reader(file_of(checkpoints_of(run).load(run.steps), "replay.cbor"));
}

/// The learner's state after the update at `steps` environment steps.
state_reader learner_of(const run_summary& run, std::int64_t steps) {
  const state_reader trainer(file_of(checkpoints_of(run).load(steps), "trainer.cbor"));
  return state_reader(trainer.get<std::string>("learner"));
}

using floats = std::vector<float>;
using choices = std::vector<std::int64_t>;

/// Of each row whether its action is the one that the run's last network likes best.
std::vector<bool> greedy_rows(const run_summary& run) {
  const auto rows = rows_of(run);
  const auto obs = rows.get<floats>("obs");
  const auto taken = rows.get<choices>("choice");
  const auto model = load_model(run_directory::open(run.run_directory).last_model());
  single_network network(model.shape, model.options);
  network.load_parameters(model.parameters);
  choices best(taken.size());
  action_random random(1);
  network.act(obs.data(), static_cast<int>(taken.size()), random, true, {.choice = best.data()});
  std::vector<bool> greedy;
  for (std::size_t i = 0; i < taken.size(); ++i) greedy.push_back(taken[i] == best[i]);
  return greedy;
}

std::int64_t count(const std::vector<bool>& flags, std::size_t from, std::size_t to, bool value) {
  return std::count(flags.begin() + static_cast<std::ptrdiff_t>(from),
                    flags.begin() + static_cast<std::ptrdiff_t>(to), value);
}

TEST_CASE("off-policy run: actions are random until learning starts") {
  stage on;
  auto config = frozen_run<dqn_config>(600);
  config.collection.learning_starts = 200;
  config.exploration = {.initial = 0, .final = 0};
  const auto greedy = greedy_rows(on.run(algorithm_with(config), "run").summary.value());
  REQUIRE(greedy.size() == 600);
  // 100 of 200 with a standard deviation of 7.
  CHECK(count(greedy, 0, 200, true) > 70);
  CHECK(count(greedy, 0, 200, true) < 130);
  CHECK(count(greedy, 200, 600, false) == 0);
}

TEST_CASE("off-policy run: DQN's random actions become fewer, and end where the schedule says") {
  stage on;
  auto config = frozen_run<dqn_config>(2000);
  config.exploration = {.initial = 1, .final = 0, .fraction = 0.5};
  const auto greedy = greedy_rows(on.run(algorithm_with(config), "run").summary.value());
  REQUIRE(greedy.size() == 2000);
  // Half of the random ones are the best all the same: 187.5 and 62.5 are expected, with standard
  // deviations of 11 and 7.
  CHECK(std::abs(count(greedy, 0, 500, false) - 187) < 45);
  CHECK(std::abs(count(greedy, 500, 1000, false) - 62) < 28);
  CHECK(count(greedy, 1000, 2000, false) == 0);
}

template <class Config>
void check_first_weights() {
  stage on;
  const auto weights = [&on](std::uint64_t seed, const char* name) {
    auto config = frozen_run<Config>(20);
    CAPTURE(config.algo);
    config.seed = seed;
    return on.run(algorithm_with(config), name).summary.value().weights_sha256;
  };
  const auto first = weights(1, "first");
  CHECK(weights(1, "again") == first);
  CHECK(weights(2, "other") != first);
}

TEST_CASE("off-policy run: the seed decides the first weights") {
  check_first_weights<dqn_config>();
  check_first_weights<sac_config>();
  check_first_weights<td3_config>();
}

TEST_CASE("off-policy run: the seed decides the actions and the episodes") {
  stage on;
  const auto rows = [&on](std::uint64_t seed, const char* name) {
    auto config = plain_run<off_policy_config>(80);
    config.seed = seed;
    config.collection.learning_starts = 60;
    const auto all =
        rows_of(on.run(toy_algorithm(config, network_kind::q_values), name).summary.value());
    auto actions = all.get<choices>("choice");
    REQUIRE(actions.size() == 80);
    actions.resize(60);  // those that hang on no observation
    return std::pair(actions, all.get<floats>("obs"));
  };
  const auto [actions, obs] = rows(1, "first");
  CHECK(rows(1, "again").first == actions);
  const auto [other_actions, other_obs] = rows(2, "other");
  CHECK(other_actions != actions);
  CHECK(other_obs[0] != obs[0]);  // the first episode's first state
}

TEST_CASE("off-policy run: the seed decides which transitions are drawn") {
  stage on;
  for (const bool prioritised : {false, true}) {
    const auto drawn = [&](std::uint64_t seed, const char* name) {
      auto config = plain_run<off_policy_config>(80);
      config.env.id = "Counting-v0";
      config.seed = seed;
      if (prioritised) config.replay.prioritised = priority_options{};
      const auto seen = std::make_shared<std::vector<transition_batch>>();
      on.run(toy_algorithm(config, network_kind::q_values, seen), name);
      floats all;
      for (const auto& batch : *seen) all.insert(all.end(), batch.obs.begin(), batch.obs.end());
      return all;
    };
    const auto first = drawn(1, "first");
    REQUIRE(first.size() == 20 * 2 * 8);
    CHECK(drawn(1, "again") == first);
    CHECK(drawn(2, "other") != first);
  }
}

TEST_CASE("off-policy run: the learner is given a prioritised replay's importance weights") {
  stage on;
  auto config = plain_run<off_policy_config>(80);
  config.env.id = "Counting-v0";
  config.replay.prioritised = priority_options{.alpha = 1, .beta = 1};
  const auto seen = std::make_shared<std::vector<transition_batch>>();
  on.run(toy_algorithm(config, network_kind::q_values, seen), "run");
  REQUIRE(seen->size() == 40);
  // The toy's TD error is the reward. A transition that it saw has that as its priority (plus eps),
  // another one the highest there was; of two in one batch weights are in the inverse proportion.
  std::map<float, double> known;
  double highest = 1;
  int compared = 0;
  for (const auto& batch : *seen) {
    REQUIRE(batch.weight.size() == 8);
    CHECK(*std::ranges::max_element(batch.weight) == 1);
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const auto a = known.find(batch.obs[i]), b = known.find(batch.obs[k]);
        if (a == known.end() || b == known.end()) continue;
        compared += a->second != b->second;
        CHECK(batch.weight[i] * a->second == Approx(batch.weight[k] * b->second));
      }
    }
    for (std::size_t i = 0; i < 8; ++i) {
      known[batch.obs[i]] = batch.reward[i] + config.replay.prioritised->eps;
      highest = std::max(highest, known[batch.obs[i]]);
    }
  }
  CHECK(compared > 100);
  CHECK(highest > 4);
}

TEST_CASE("off-policy run: a transition of n steps is discounted by as many") {
  stage on;
  auto config = frozen_run<dqn_config>(200);
  config.replay.n_step = 3;
  config.trainer.gamma = 0.9;
  const auto rows = rows_of(on.run(algorithm_with(config), "run").summary.value());
  const auto reward = rows.get<floats>("reward"), discount = rows.get<floats>("discount");
  REQUIRE(discount.size() > 190);
  int whole = 0;
  for (std::size_t i = 0; i < discount.size(); ++i) {  // CartPole's rewards are 1
    CAPTURE(i);
    if (reward[i] == 1.0f) {
      CHECK(discount[i] == 0.9f);
    } else if (reward[i] == 1.9f) {
      CHECK(discount[i] == Approx(0.81));
    } else {
      CHECK(reward[i] == Approx(2.71));
      CHECK(discount[i] == Approx(0.729));
      ++whole;
    }
  }
  CHECK(whole > 150);
}

/// The target's movement over the updates of a run, by hand from what the online network was.
void follow_target(const run_summary& run, double tau, std::int64_t every, int n_envs) {
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
        const auto run = on.run(algorithm_with(config), "run").summary.value();
        REQUIRE(run.steps == config.total_steps);
        follow_target(run, tau, interval, n_envs);
        ends.insert(learner_of(run, run.steps).get<floats>("target"));
      }
      CHECK(ends.size() == (tau == 1 ? 2 : 4));  // a copy is the same, however often it is made
    }
  }
}

TEST_CASE("off-policy run: TD3's actor and targets wait for policy_delay gradient steps") {
  stage on;
  auto config = plain_run<td3_config>(28);
  config.collection = {.learning_starts = 7, .train_freq = 4, .gradient_steps = 1};
  config.checkpoint.every_updates = 1;
  config.trainer.batch_size = 8;
  config.trainer.policy_delay = 3;
  config.policy.hidden = {4};
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  for (std::int64_t update = 2; update <= 6; ++update) {
    CAPTURE(update);
    const auto before = learner_of(run, 4 * update);
    const auto after = learner_of(run, 4 * (update + 1));
    const auto moved = [&](const char* part) {
      return after.get<floats>(part) != before.get<floats>(part);
    };
    CHECK(after.get<std::int64_t>("n_updates") == update);
    CHECK(moved("critics"));
    for (const auto* part : {"actor", "target_actor", "target_critics"}) {
      CAPTURE(part);
      CHECK(moved(part) == (update % 3 == 0));
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
    const auto run = on.run(algorithm_with(config), config.algo).summary.value();
    std::erase_if(names,
                  [&](const std::string& name) { return !has_column(run, "train/" + name); });
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

TEST_CASE("off-policy run: Prometheus has the numbers of the newest row, and only what there is") {
  const auto gauges_of = [](auto config, std::set<std::string> row) {
    stage on;
    config.trainer.batch_size = 8;
    config.policy.hidden = {4};
    const auto run = on.run(algorithm_with(config), config.algo).summary.value();
    const auto text = on.metrics->text();
    INFO(text);
    CHECK(series(text, "troupe_policy_version") == series(text, "troupe_train_steps_total"));
    CHECK(series(text, "troupe_train_skipped_steps_total") == 0);
    std::set<std::string> exported;
    for (const std::string name :
         {"loss", "kl", "entropy", "grad_norm", "clip_ratio", "learning_rate"}) {
      const auto value = series(text, "troupe_train_" + name);
      if (std::isnan(value)) continue;
      exported.insert(name);
      const bool is_of_critics = name == "loss" && row.contains("critic_loss");
      const auto column = column_of(run, "train/" + (is_of_critics ? "critic_loss" : name));
      REQUIRE_FALSE(column.empty());
      CHECK(value == Approx(column.back()));
    }
    return exported;
  };
  using names = std::set<std::string>;
  CHECK(gauges_of(plain_run<dqn_config>(200), {}) == names{"loss", "grad_norm", "learning_rate"});
  CHECK(gauges_of(plain_run<sac_config>(404), {"critic_loss"}) ==
        names{"loss", "entropy", "learning_rate"});
  CHECK(gauges_of(plain_run<td3_config>(404), {"critic_loss"}) == names{"loss", "learning_rate"});
}

TEST_CASE("off-policy run: gradient steps that are not finite are counted") {
  stage on;
  auto config = plain_run<td3_config>(40);
  config.env.id = "Rich-v0";
  config.trainer.batch_size = 8;
  config.trainer.max_skipped_steps = 1'000'000;
  config.policy.hidden = {4};
  const auto run = on.run(algorithm_with(config), "rich").summary.value();
  CHECK(run.steps == 40);
  const auto text = on.metrics->text();
  CHECK(series(text, "troupe_train_steps_total") == 10);
  CHECK(series(text, "troupe_train_skipped_steps_total") == 20);
  CHECK(std::isnan(series(text, "troupe_train_loss")));
}

}  // namespace
}  // namespace troupe
