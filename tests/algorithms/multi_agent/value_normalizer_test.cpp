#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/value_normalizer.hpp"

#include "algorithms/on_policy/ppo/learner.hpp"
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

double mean_return_of(const ppo_learner& learner) {
  const auto scale = learner.state().value_scale;
  return scale.mean / scale.weight;
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
