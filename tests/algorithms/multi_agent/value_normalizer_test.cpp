#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/value_normalizer.hpp"

#include <cmath>
#include <limits>

#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int rows = 4;
const network_shape shape{.obs_size = 2, .discrete_actions = 2};

/// One step of four environments with that reward. If it does not terminate, its return goes on
/// with the critic's value, which is given.
rollout_batch one_step(double reward, bool terminated, float bootstrap_value) {
  rollout_batch batch;
  batch.obs = at::ones({1, rows, 2});
  batch.action = at::zeros({1, rows}, at::kLong);
  batch.log_prob = at::full({1, rows}, -0.7);
  batch.value = at::zeros({1, rows});
  batch.reward = at::full({1, rows}, reward);
  batch.terminated = at::full({1, rows}, terminated, at::kBool);
  batch.truncated = at::zeros({1, rows}, at::kBool);
  batch.final_value = at::zeros({1, rows});
  batch.bootstrap_obs = at::ones({rows, 2});
  batch.bootstrap_value = at::full({rows}, bootstrap_value);
  return batch;
}

/// The named number of the statistics of returns.
double statistic(const ppo_learner& learner, std::string_view name) {
  return parts_of(learner).doubles.find(name)->second.at(0);
}

double mean_return_of(const ppo_learner& learner) {
  return statistic(learner, "value_mean") / statistic(learner, "value_weight");
}

}  // namespace

TEST_CASE("value_normalizer: early updates have equal weights, and the deviation has a floor") {
  detail::value_normalizer scale;
  CHECK(scale.mean() == 0);
  CHECK(scale.deviation() == 1);
  const std::vector<float> returns{10, 20, 30, 40};
  const std::vector<detail::row_index> first{0, 1}, second{2, 3};
  scale.update(returns.data(), first);
  CHECK(scale.mean() == Approx(15));
  CHECK(scale.deviation() == Approx(5));
  scale.update(returns.data(), second);
  CHECK(scale.mean() == Approx((0.99 * 15 + 35) / 1.99));
  const std::vector<float> same{7, 7};
  detail::value_normalizer flat;
  flat.update(same.data(), first);
  CHECK(flat.deviation() == Approx(0.1));
}

TEST_CASE("value_normalizer: the decay is the weight of what came before") {
  detail::value_normalizer scale(0.5);
  const std::vector<float> returns{10, 30};
  const std::vector<detail::row_index> first{0}, second{1};
  scale.update(returns.data(), first);
  scale.update(returns.data(), second);
  CHECK(scale.mean() == Approx((0.5 * 10 + 30) / 1.5));
}

TEST_CASE("ppo_learner: the statistics of returns can be updated before each gradient step") {
  const auto weight_after = [](value_norm_update every) {
    ppo_options options;
    options.batch_size = 2;  // two minibatches of four rows
    options.n_epochs = 3;
    options.normalize_value = true;
    options.value_norm_decay = 0.9;
    options.value_norm_every = every;
    ppo_learner learner(shape, options, 1);
    const auto report = learner.update(one_step(100, true, 0));
    CHECK(mean_return_of(learner) == Approx(100));
    CHECK(report["train/value_loss"] < 100);  // all returns are 100, so the targets are 0
    return statistic(learner, "value_weight");
  };
  CHECK(weight_after(value_norm_update::rollout) == Approx(1 - 0.9));
  CHECK(weight_after(value_norm_update::minibatch) == Approx(1 - std::pow(0.9, 6)));
}

TEST_CASE("reward_scale: rewards are centred and scaled by those so far") {
  const std::vector<float> rewards{1, 3, std::numeric_limits<float>::infinity()};
  const auto scaled = [&](reward_scaling how) {
    detail::reward_scale scale(how, 2);
    if (scale.is_wanted()) scale.add(1, rewards);
    detail::reward_scale other(how, 2);
    other.restore("it", scale.saved());
    CHECK(other.apply(1, 4) == scale.apply(1, 4));
    return scale.apply(1, 4);
  };
  // The mean is 2 and the deviation 1, but for the weight of 1e-4 rows before the first.
  CHECK(scaled(reward_scaling::none) == 4);
  CHECK(scaled(reward_scaling::center) == Approx(2).epsilon(1e-3));
  CHECK(scaled(reward_scaling::scale) == Approx(4).epsilon(1e-3));
  CHECK(scaled(reward_scaling::standardize) == Approx(2).epsilon(1e-3));
  detail::reward_scale wide(reward_scaling::scale, 1);
  const std::vector<float> more{-4, 4};
  wide.add(0, more);
  CHECK(wide.apply(0, 4) == Approx(1).epsilon(1e-3));
  CHECK_THROWS_WITH(wide.restore("it", {}),
                    Catch::Contains("it: expected statistics of 1 rewards"));
}

TEST_CASE("ppo_learner: scaled rewards are those of the returns") {
  ppo_options options;
  options.batch_size = 4;
  options.normalize_value = true;
  options.normalize_reward = reward_scaling::standardize;
  ppo_learner learner(shape, options, 1);
  auto batch = one_step(0, true, 0);
  batch.reward = at::tensor({90.0f, 110.0f, 90.0f, 110.0f}).view({1, rows});
  learner.update(batch);
  CHECK(batch.reward[0][0].item<float>() == 90);  // it is the caller's
  CHECK(mean_return_of(learner) == Approx(0).margin(0.01));
  CHECK(statistic(learner, "value_square") / statistic(learner, "value_weight") ==
        Approx(1).margin(0.01));
  ppo_learner other(shape, options, 2);
  copy_learner(other, learner);
  CHECK(parts_of(other).reward_scale.at(0).mean()[0] ==
        parts_of(learner).reward_scale.at(0).mean()[0]);
  CHECK(mean_return_of(other) == mean_return_of(learner));
  options.normalize_reward = reward_scaling::none;
  ppo_learner plain(shape, options, 3);
  CHECK_THROWS_AS(plain.restore(learner.save()), state_error);
}

TEST_CASE("ppo_learner: with normalised values the targets are returns, whatever their scale") {
  ppo_options options;
  options.batch_size = 4;
  options.gamma = 0.5;
  options.normalize_value = true;
  ppo_learner learner(shape, options, 1);
  learner.update(one_step(100, true, 0));
  CHECK(mean_return_of(learner) == Approx(100));
  // A critic's value of 2 now stands for 100 + 2 deviations of 0.1, which is half of the return.
  learner.update(one_step(0, false, 2));
  CHECK(mean_return_of(learner) == Approx((0.99 * 100 + 0.5 * 100.2) / 1.99));
}

TEST_CASE("ppo_learner: with normalised values the value at a time limit is a return, too") {
  ppo_options options;
  options.batch_size = 4;
  options.gamma = 0.5;
  options.normalize_value = true;
  ppo_learner learner(shape, options, 1);
  learner.update(one_step(100, true, 0));
  auto cut = one_step(0, false, 0);
  cut.truncated = at::ones({1, rows}, at::kBool);
  SECTION("as the critic that acted gave it") {
    cut.final_value = at::full({1, rows}, 2.0);
    learner.update(cut);
    CHECK(mean_return_of(learner) == Approx((0.99 * 100 + 0.5 * 100.2) / 1.99));
  }
  SECTION("as the present critic gives it, of stale rows") {
    cut.proximal_correction = true;
    cut.final_obs = at::ones({rows, 2});
    cut.final_index = at::stack({at::zeros({rows}, at::kLong), at::arange(rows, at::kLong)}, 1);
    const double value = learner.model().values(cut.final_obs)[0].item<double>();
    learner.update(cut);
    CHECK(mean_return_of(learner) == Approx((0.99 * 100 + 0.5 * (100 + 0.1 * value)) / 1.99));
  }
}

}  // namespace troupe
