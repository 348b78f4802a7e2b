// What run_callbacks::on_update reads and changes of a run.

#include "algorithms/run/run_control.hpp"

#include "actors/torch/torch.hpp"

#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;
using loops::verdict;

/// Eight updates, of 64 environment steps.
ppo_config short_ppo() {
  ppo_config config;
  config.env.n_envs = 2;
  config.total_steps = 8 * 64;
  config.rollout.n_steps = 32;
  config.trainer.batch_size = 16;
  config.trainer.n_epochs = 2;
  config.trainer.lr = 1e-2;
  config.policy.hidden = {8};
  config.evaluation.final_episodes = 1;
  config.deterministic = true;
  return config;
}

/// Each collection is of four environment steps; the first fills the replay. Episodes end at every
/// tenth step, and rows of progress.csv with them.
template <class Config>
Config short_off_policy() {
  Config config;
  config.env.max_episode_steps = 10;
  config.log.episodes = 1;
  config.total_steps = 64;
  config.collection = {.learning_starts = 7, .train_freq = 4, .gradient_steps = 2};
  config.replay.capacity = 1000;
  config.trainer.batch_size = 8;
  config.trainer.lr = 1e-2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .episodes = 1, .final_episodes = 1};
  config.deterministic = true;
  return config;
}

using update_callback = std::function<task<verdict>(loops::progress, run_control&)>;

run_summary run_with(const algorithm& what, update_callback on_update) {
  static const temporary_folder folder;
  return train(what, {.root = folder.path}, {.callbacks = {.on_update = std::move(on_update)}})
      .summary.value();
}

// ---- the learning rate

/// What a linear schedule gives an update after which so many steps have been made.
double linear(double lr, std::int64_t steps, std::int64_t total) {
  return lr * (1.0 - static_cast<double>(steps) / static_cast<double>(total));
}

/// The rate of each update, and where it ends.
struct schedule {
  double lr = 0;
  std::int64_t total = 0;
  std::int64_t each = 0;  ///< Steps of every update but the first, which may have more.
  std::vector<double> seen = {};
};

/// Sets what a linear schedule would give the next update; stops before that is 0.
task<verdict> set_by_hand(schedule& by, loops::progress now, run_control& control) {
  by.seen.push_back(control.learning_rate());
  const auto next = now.steps + by.each;
  if (next >= by.total) co_return verdict::stop;
  control.set_learning_rate(linear(by.lr, next, by.total));
  co_return verdict::go_on;
}

task<verdict> stop_there(std::int64_t total, std::int64_t each, loops::progress now, run_control&) {
  co_return now.steps + each >= total ? verdict::stop : verdict::go_on;
}

/// `first`: steps at the end of the first update, `each`: of every other.
template <class Config>
void check_schedule_by_hand(Config config, std::int64_t first, std::int64_t each) {
  CAPTURE(config.algo);
  const double lr = config.trainer.lr;
  const auto total = config.total_steps;
  auto by_hand = config, scheduled = config;
  by_hand.trainer.lr = linear(lr, first, total);
  scheduled.trainer.lr_schedule = annealing::linear;
  schedule by{.lr = lr, .total = total, .each = each};
  const auto own = run_with(
      algorithm_with(by_hand),
      [&by](loops::progress now, run_control& control) { return set_by_hand(by, now, control); });
  const auto stop = [total, each](loops::progress now, run_control& control) {
    return stop_there(total, each, now, control);
  };
  const auto expected = run_with(algorithm_with(scheduled), stop);
  CHECK(own.steps == expected.steps);
  CHECK(own.steps < total);
  CHECK(own.weights_sha256 == expected.weights_sha256);
  CHECK(run_with(algorithm_with(by_hand), stop).weights_sha256 != own.weights_sha256);

  REQUIRE(by.seen.size() > 5);
  for (std::size_t i = 0; i < by.seen.size(); ++i) {
    const auto steps = first + static_cast<std::int64_t>(i) * each;
    CHECK(by.seen[i] == linear(lr, steps, total));
  }
  const auto rates = column_of(own, "train/learning_rate");
  CHECK(rates.size() > 1);
  CHECK(rates == column_of(expected, "train/learning_rate"));
}

TEST_CASE(
    "run_control: a schedule that a callback sets is that of the configuration, bit for bit") {
  check_schedule_by_hand(short_ppo(), 64, 64);
  check_schedule_by_hand(short_off_policy<dqn_config>(), 8, 4);
  check_schedule_by_hand(short_off_policy<sac_config>(), 8, 4);
  check_schedule_by_hand(short_off_policy<td3_config>(), 8, 4);
}

/// Sets a rate after the second update, and clears it after the sixth; counts the updates.
task<verdict> set_for_a_while(int& updates, loops::progress now, run_control& control) {
  ++updates;
  if (now.updates == 2) control.set_learning_rate(0.05);
  if (now.updates == 6) control.clear_learning_rate();
  co_return verdict::go_on;
}

TEST_CASE("run_control: a rate that is set holds until it is cleared, also in a run that goes on") {
  const temporary_folder folder;
  auto config = short_ppo();
  config.checkpoint.every_updates = 3;
  const auto what = algorithm_with(config);
  int updates = 0;
  const auto tell = [&updates](loops::progress now, run_control& control) {
    return set_for_a_while(updates, now, control);
  };
  const auto whole =
      train(what, {.root = folder.path}, {.callbacks = {.on_update = tell}}).summary.value();
  CHECK(updates == 8);
  const std::vector<double> expected = {1e-2, 1e-2, 0.05, 0.05, 0.05, 0.05, 1e-2, 1e-2};
  CHECK(column_of(whole, "train/learning_rate") == expected);

  updates = 0;
  const auto half =
      train(what, {.root = folder.path},
            {.stop_asked = [&updates] { return updates == 3; }, .callbacks = {.on_update = tell}});
  REQUIRE_FALSE(half.summary);
  metrics_registry metrics;
  auto from = newest_checkpoint(half.run_directory, what.settings, metrics);
  REQUIRE(from);
  updates = 0;
  const auto rest = train(what, {.directory = half.run_directory},
                          {.callbacks = {.on_update = tell}}, std::move(from));
  CHECK(updates == 5);
  CHECK(column_of(rest.summary.value(), "train/learning_rate") == expected);
  CHECK(rest.summary->weights_sha256 == whole.weights_sha256);
}

TEST_CASE("run_control: a learning rate that is none is refused") {
  run_control control;
  for (const double lr : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_WITH(control.set_learning_rate(lr), Catch::Contains("expected a number > 0, got"));
  }
  CHECK_FALSE(control.chosen_learning_rate());
}

// ---- values of one's own

task<verdict> record_twice(loops::progress now, run_control& control) {
  control.record("custom/twice", 0);
  control.record("custom/twice", 2 * static_cast<double>(now.updates));
  if (now.updates % 2 == 1) control.record("custom/odd", static_cast<double>(now.updates));
  co_return verdict::go_on;
}

TEST_CASE(
    "run_control: a recorded value is in progress.csv, in the row of its update or the next") {
  auto config = short_ppo();
  const auto each = run_with(algorithm_with(config), record_twice);
  CHECK(column_of(each, "time/iterations") == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(column_of(each, "custom/twice") == std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16});
  CHECK(column_of(each, "custom/odd") == std::vector<double>{1, 3, 5, 7});

  config.log.every_updates = 2;
  for (const std::int64_t checkpoint_every : {0, 1}) {
    config.checkpoint.every_updates = checkpoint_every;
    const auto second = run_with(algorithm_with(config), record_twice);
    CHECK(column_of(second, "time/iterations") == std::vector<double>{2, 4, 6, 8});
    CHECK(column_of(second, "custom/twice") == std::vector<double>{4, 8, 12, 16});
    CHECK(column_of(second, "custom/odd") == std::vector<double>{1, 3, 5, 7});
  }
}

TEST_CASE("run_control: a recorded value is a metric from then on") {
  const temporary_folder folder;
  const auto metrics = std::make_shared<metrics_registry>();
  train(algorithm_with(short_ppo()), {.root = folder.path},
        {.metrics = metrics, .callbacks = {.on_update = record_twice}});
  const auto text = metrics->text();
  CHECK_THAT(text, Catch::Contains("troupe_recorded_value{column=\"custom/twice\"} 16\n"));
  CHECK_THAT(text, Catch::Contains("troupe_recorded_value{column=\"custom/odd\"} 7\n"));
  CHECK_THAT(metrics->boards(), Catch::Contains("\"metric\": \"troupe_recorded_value\""));
}

TEST_CASE("run_control: a name that is no column's is refused") {
  run_control control;
  for (const char* name : {"", "a,b", "a\"", "a\n"}) {
    CHECK_THROWS_WITH(control.record(name, 1), Catch::Contains("expected the name of a column"));
  }
}

task<verdict> fail_at_once(loops::progress, run_control& control) {
  control.record("custom/last", 1);
  throw std::runtime_error("the user's own mistake");
  co_return verdict::go_on;
}

TEST_CASE("run_control: what a callback throws is thrown by the run, after the row is written") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(
      train(short_ppo(), {.root = folder.path}, {.callbacks = {.on_update = fail_at_once}}),
      "the user's own mistake");
  std::vector<std::filesystem::path> rows;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path)) {
    if (each.path().filename() == "progress.csv") rows.push_back(each.path());
  }
  REQUIRE(rows.size() == 1);
  CHECK_THAT(read_text(rows[0]), Catch::Contains("custom/last"));
}

// ---- actions

struct seen_actions {
  std::vector<action_histogram> of = {};
};

task<verdict> keep_actions(seen_actions& to, loops::progress, run_control& control) {
  to.of.push_back(control.actions());
  co_return verdict::go_on;
}

std::vector<action_histogram> actions_of(const algorithm& what) {
  seen_actions seen;
  run_with(what, [&seen](loops::progress now, run_control& control) {
    return keep_actions(seen, now, control);
  });
  return seen.of;
}

std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

TEST_CASE("run_control: the histogram counts the actions of the update's rollouts") {
  const auto choices = actions_of(algorithm_with(short_ppo()));
  REQUIRE(choices.size() == 8);
  for (const auto& each : choices) {
    REQUIRE(each.counts().size() == 1);
    REQUIRE(each.counts()[0].size() == 2);
    CHECK(total(each.counts()[0]) == 64);
    CHECK(each.counts()[0][0] > 0);
    CHECK(each.counts()[0][1] > 0);
  }
  CHECK(choices[0].counts() != choices[1].counts());

  auto config = short_ppo();
  config.env.id = "Pendulum-v1";
  const auto numbers = actions_of(algorithm_with(config));
  REQUIRE(numbers.size() == 8);
  for (const auto& each : numbers) {
    REQUIRE(each.counts().size() == 1);
    REQUIRE(each.counts()[0].size() == action_histogram::bins);
    CHECK(total(each.counts()[0]) == 64);
    CHECK(each.low(0) == -2);
    CHECK(each.high(0) == 2);
  }
  CHECK(actions_of(algorithm_with(short_off_policy<dqn_config>())).back().counts().empty());
}

TEST_CASE("action_histogram: bins are of the same width, and the outermost have what lies beyond") {
  const env_spec spec{
      .id = "Two-v0",
      .observation_space = spaces::box(0.0f, 1.0f, {1}),
      .action_space = spaces::box({0.0f, -std::numeric_limits<float>::infinity()}, {10.0f, 1.0f})};
  action_histogram seen(spec, {.obs_size = 1, .continuous_size = 2});
  CHECK(seen.high(0) == 10);
  CHECK(seen.low(1) == -1);
  const auto add = [&seen](float first, float second) {
    const std::vector<float> action{first, second};
    seen.add(action);
  };
  add(0.0f, -1.0f);
  add(0.49f, -0.95f);
  add(0.5f, 0.0f);
  add(10.0f, 1.0f);
  add(-100.0f, 100.0f);
  add(std::numeric_limits<float>::quiet_NaN(), 0.05f);
  CHECK(seen.counts()[0][0] == 3);
  CHECK(seen.counts()[0][1] == 1);
  CHECK(seen.counts()[0][19] == 1);
  CHECK(total(seen.counts()[0]) == 5);
  CHECK(seen.counts()[1][0] == 2);
  CHECK(seen.counts()[1][10] == 2);
  CHECK(seen.counts()[1][19] == 2);
}

// ---- options and attributes of environments

/// Its rewards are its attribute "bonus", and its episodes have 8 steps. The info has the bonus and
/// the option "first" of the reset.
class dial final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Dial-v0",
            .observation_space = spaces::box(-1, 1, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    steps_ = 0;
    first_ = next_first_;
    obs[0] = 0;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = bonus_, .terminated = ++steps_ == 8, .success = bonus_ > 0};
  }
  episode_info info() const override { return {{"bonus", bonus_}, {"first", first_}}; }
  void set_options(const std::string& json) override { next_first_ = std::stod(json.substr(9)); }
  void set_attr(const std::string&, const std::string& json) override { bonus_ = std::stod(json); }

 private:
  int steps_ = 0;
  double bonus_ = 0, first_ = 0, next_first_ = 0;
};

task<verdict> turn_dial(loops::progress now, run_control& control) {
  if (now.updates == 4) {
    co_await control.set_attr("bonus", "5");
    co_await control.set_options(R"({"first":2})");
  }
  co_return verdict::go_on;
}

template <class Config>
void check_dial(Config config) {
  CAPTURE(config.algo);
  config.env.id = "Dial-v0";
  config.env.info = {"bonus", "first"};
  const auto run = run_with(algorithm_with(config), turn_dial);
  for (const auto& [name, last] : std::map<std::string, double>{
           {"ep_rew_mean", 40}, {"ep_bonus_mean", 5}, {"ep_first_mean", 2}, {"success_rate", 1}}) {
    CAPTURE(name);
    const auto values = column_of(run, "rollout/" + name);
    REQUIRE(values.size() > 1);
    // The last 100 episodes have both kinds.
    CHECK(values.back() > 0);
    CHECK(values.back() < last);
  }
}

TEST_CASE(
    "run_control: options and attributes reach the environments of a run, and their info the "
    "columns") {
  static const bool registered = (register_environment<dial>("Dial-v0"), true);
  CHECK(registered);
  check_dial(short_ppo());
  auto dqn = short_off_policy<dqn_config>();
  dqn.total_steps = 128;
  check_dial(dqn);
}

}  // namespace
}  // namespace troupe
