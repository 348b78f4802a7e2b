#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/rollout_normalizer.hpp"

#include <cmath>

#include "actors/environments/vector_env.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr int B = 2, D = 2;
constexpr std::int64_t T = 7;

/// What environment `e` shows after `step` steps, whatever is done: its clock goes on over
/// episodes.
std::vector<float> shown(int e, int step) {
  const double t = step + 0.25 * e;
  return {static_cast<float>(20.0 + 3.0 * std::sin(1.7 * t)), static_cast<float>(1e-2 * t * t)};
}
double reward_of(int e, int step) { return (e ? -4.0 : 3.0) + step % 3; }
/// Environment 0's episodes are cut after 3 steps; those of environment 1 end after 4.
bool ends(int e, int step) { return step > 0 && step % (e ? 4 : 3) == 0; }

/// One of these environments: the first that is seeded is number 0.
class wandering : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Wandering-v0",
            .observation_space = spaces::box(-1e3f, 1e3f, {D}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) number_ = seeded++ % B;
    // An episode begins half a step after the one before it ended.
    write_obs(begun(), obs);
  }
  step_result step(action_view, std::span<float> obs) override {
    ++step_;
    write_obs(shown(number_, step_), obs);
    const bool over = ends(number_, step_);
    return {.reward = reward_of(number_, step_),
            .terminated = over && number_ == 1,
            .truncated = over && number_ == 0};
  }

  static inline int seeded = 0;

 private:
  std::vector<float> begun() const {
    auto obs = shown(number_, step_);
    for (auto& x : obs) x += 0.5f;
    return obs;
  }
  int number_ = 0;
  int step_ = 0;
};

/// Stable-Baselines3's RunningMeanStd, update_from_moments and all, of one column.
struct running_mean_std {
  double mean = 0, var = 1, count = 1e-4;
  void update(const std::vector<double>& batch) {
    const auto n = static_cast<double>(batch.size());
    double batch_mean = 0, batch_var = 0;
    for (const double x : batch) batch_mean += x / n;
    for (const double x : batch) batch_var += (x - batch_mean) * (x - batch_mean) / n;
    const double delta = batch_mean - mean, total = count + n;
    const double m2 = var * count + batch_var * n + delta * delta * count * n / total;
    mean += delta * n / total;
    var = m2 / total;
    count = total;
  }
  double normalize(double x) const {
    return std::clamp((x - mean) / std::sqrt(var + 1e-8), -10.0, 10.0);
  }
};

/// Stable-Baselines3's VecNormalize around the B environments above.
class vec_normalize {
 public:
  vec_normalize() {
    for (int e = 0; e < B; ++e) {
      obs_.push_back(shown(e, 0));
      for (auto& x : obs_.back()) x += 0.5f;
    }
    update_obs();
  }
  void step() {
    ++step_;
    last_.clear();
    for (int e = 0; e < B; ++e) {
      const auto i = static_cast<std::size_t>(e);
      obs_[i] = shown(e, step_);
      reward_[i] = reward_of(e, step_);
      if (!ends(e, step_)) continue;
      if (e == 0) last_ = obs_[i];  // terminal_observation, raw until the end
      for (auto& x : obs_[i]) x += 0.5f;
    }
    update_obs();
    for (std::size_t i = 0; i < B; ++i) returns_[i] = returns_[i] * 0.9 + reward_[i];
    return_rms_.update({returns_[0], returns_[1]});
    for (std::size_t i = 0; i < B; ++i) {
      if (ends(static_cast<int>(i), step_)) returns_[i] = 0;
    }
  }
  std::vector<double> obs() const {
    std::vector<double> all;
    for (const auto& row : obs_) {
      for (int d = 0; d < D; ++d) all.push_back(obs_rms_[d].normalize(row[d]));
    }
    return all;
  }
  std::vector<double> last() const {
    std::vector<double> all;
    for (std::size_t d = 0; d < last_.size(); ++d) all.push_back(obs_rms_[d].normalize(last_[d]));
    return all;
  }
  double reward(std::size_t e) const {
    return std::clamp(reward_[e] / std::sqrt(return_rms_.var + 1e-8), -10.0, 10.0);
  }

 private:
  void update_obs() {
    for (int d = 0; d < D; ++d) obs_rms_[d].update({obs_[0][d], obs_[1][d]});
  }
  int step_ = 0;
  std::vector<std::vector<float>> obs_;
  std::vector<float> last_;
  double reward_[B]{}, returns_[B]{};
  running_mean_std obs_rms_[D], return_rms_;
};

struct expectation {
  std::vector<double> obs, reward, final_obs, bootstrap_obs;
};

/// A rollout as on_policy_algorithm.py collects it.
expectation collect(vec_normalize& envs) {
  expectation made;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::int64_t t = 0; t < T; ++t) {
    append(made.obs, envs.obs());
    envs.step();
    for (std::size_t e = 0; e < B; ++e) made.reward.push_back(envs.reward(e));
    append(made.final_obs, envs.last());
  }
  made.bootstrap_obs = envs.obs();
  return made;
}

void check_equal(const std::vector<float>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("number " << i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-7));  // a float's rounding
  }
}

std::unique_ptr<vector_environment> make_wandering() {
  return std::make_unique<vector_env<wandering>>(B);
}

const network_shape shape{.obs_size = D, .discrete_actions = 2};

/// The columns of a single agent with so many numbers.
std::vector<normalized_columns> columns_of(int width) {
  return {normalized_columns(agent_rows({.obs_size = width, .discrete_actions = 2}), 0)};
}

task<rollout_roles> serve_roles(system& sys) {
  wandering::seeded = 0;
  rollout_roles roles;
  const network_options scaled{.normalize_obs = true};
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const actor_critic network(shape, scaled, 1);
  weights first{1, network.parameters().clone(), {}};
  co_await store.route<&weight_store::put>(first);
  policy_options acting{.shape = shape, .network = scaled, .seed = 1};
  auto acts = co_await sys.serve<policy>({.name = "policy"}, acting, store);
  roles.policies = {std::move(acts)};
  roles.rows = std::make_shared<const agent_rows>(shape);
  hosted_environment::factory make = make_wandering;
  roles.environments =
      co_await sys.serve<hosted_environment>({.name = "environments"}, std::move(make),
                                             std::uint64_t{0}, env_observers{}, std::optional(0.9));
  roles.n_steps = T;
  roles.normalizer = std::make_shared<run_normalizer>(columns_of(D), true);
  co_return roles;
}

/// Rollouts of one replica, each taken in before the next begins.
task<> collect_in_turn(system& sys) {
  const auto roles = co_await serve_roles(sys);
  vec_normalize envs;
  for (int i = 0; i < 3; ++i) {
    INFO("rollout " << i);
    const auto made = co_await generate_rollout(roles);
    const auto expected = collect(envs);
    check_equal(made.policies[0].obs, expected.obs);
    check_equal(made.policies[0].reward, expected.reward);
    check_equal(made.policies[0].final_obs, expected.final_obs);
    check_equal(made.policies[0].bootstrap_obs, expected.bootstrap_obs);
    REQUIRE_FALSE(made.policies[0].final_obs.empty());
    if (i == 0) CHECK(made.episodes.front().episode_return == 3 * 3 + 1 + 2 + 0);  // as it was
    // Values are of what was acted on.
    std::vector<float> obs = made.policies[0].obs;
    const auto values = co_await roles.policies[0].route<&policy::values>(std::move(obs), true);
    for (std::size_t row = 0; row < values.size(); ++row) {
      CHECK(made.policies[0].value[row] == Approx(values[row]).margin(1e-6));
    }
    roles.normalizer->take_in({made.seen});
    CHECK(roles.normalizer->obs().at(0).count() == Approx(1e-4 + B * (1 + (i + 1) * T)));
  }
}

/// The same, but nothing is taken in: each rollout goes on from what its own replica has seen.
task<> collect_without_updates(system& sys) {
  const auto roles = co_await serve_roles(sys);
  vec_normalize envs;
  for (int i = 0; i < 3; ++i) {
    INFO("rollout " << i);
    const auto made = co_await generate_rollout(roles);
    check_equal(made.policies[0].obs, collect(envs).obs);
  }
  CHECK(roles.normalizer->obs().at(0).count() == Approx(1e-4));
}

/// A rollout on `replica` that saw `rows`, of three numbers each.
seen_statistics rollout_with(run_normalizer& run, std::int64_t replica,
                             const std::vector<float>& rows) {
  auto one = run.begin(replica);
  one.add(0, rows, std::vector<std::uint8_t>(rows.size() / 3, 1));
  return run.end(one);
}

std::vector<float> rows_of(std::uint64_t seed) {
  action_random random(seed);
  std::vector<float> rows(30);
  random.fill_normal(rows);
  for (auto& x : rows) x = 100 + 17 * x;
  return rows;
}

std::vector<float> first_row_of(const run_normalizer& run, std::int64_t replica) {
  std::vector<float> row{50, 60, 70};
  run.begin(replica).normalize(0, row);
  return row;
}

}  // namespace

TEST_CASE("generate_rollout: one replica's numbers are VecNormalize's, step by step") {
  play(collect_in_turn);
}

TEST_CASE("generate_rollout: a replica goes on from its own rows while nothing is trained on") {
  play(collect_without_updates);
}

TEST_CASE("run_normalizer: what rollouts add is joined in the order of replicas, not of arrival") {
  std::string expected;
  for (const auto& order : {std::vector{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}}) {
    run_normalizer run(columns_of(3), false);
    std::vector<seen_statistics> batch;
    for (const int replica : order) {
      const auto seed = static_cast<std::uint64_t>(replica) + 1;
      batch.push_back(rollout_with(run, replica, rows_of(seed)));
    }
    run.take_in(batch);
    if (expected.empty()) expected = run.obs().at(0).state();
    CHECK((run.obs().at(0).state() == expected));
  }
}

TEST_CASE("run_normalizer: rows count for their own replica at once, for others when trained on") {
  run_normalizer run(columns_of(3), false);
  const auto untouched = first_row_of(run, 0);
  const auto first = rollout_with(run, 0, rows_of(1));
  CHECK(first_row_of(run, 0) != untouched);
  CHECK(first_row_of(run, 1) == untouched);
  const auto of_itself = first_row_of(run, 0);
  run.take_in({first});
  CHECK(first_row_of(run, 0) == of_itself);  // once, not twice
  CHECK(first_row_of(run, 1) == of_itself);

  // One that is dropped as too stale counts no more when a later one is trained on.
  rollout_with(run, 1, rows_of(2));
  CHECK(first_row_of(run, 1) != of_itself);
  const auto later = rollout_with(run, 0, rows_of(3));
  run.take_in({later});
  CHECK(first_row_of(run, 1) == first_row_of(run, 0));
}

TEST_CASE("run_normalizer: a restored one goes on to the same bits") {
  run_normalizer run(columns_of(3), true), other(columns_of(3), true);
  run.take_in({rollout_with(run, 0, rows_of(1))});
  rollout_with(run, 1, rows_of(2));
  other.restore(run.save());
  CHECK((other.save() == run.save()));
  CHECK(first_row_of(other, 1) == first_row_of(run, 1));
  CHECK(rollout_with(other, 1, rows_of(3)).number == rollout_with(run, 1, rows_of(3)).number);
  CHECK_THROWS_WITH(run_normalizer(columns_of(2), true).restore(run.save()),
                    has_text("of 2 columns"));
}

TEST_CASE("rollout_normalizer: rewards without discounted returns are refused") {
  auto one = run_normalizer({normalized_columns()}, true).begin(0);
  env_step after{.obs = {1}, .reward = {1}, .terminated = {0}, .truncated = {0}};
  CHECK_THROWS_WITH(one.take_rewards(after), has_text("discounted returns"));
}

}  // namespace troupe
