#include "actors/torch/torch.hpp"

#include "algorithms/losses/gae.hpp"

#include <cmath>
#include <limits>

#include "tests/test.hpp"

using namespace troupe;

namespace {

at::Tensor column(std::vector<float> numbers) { return at::tensor(numbers).unsqueeze(1); }

at::Tensor flags(std::int64_t T, std::vector<std::int64_t> set) {
  auto result = at::zeros({T, 1}, at::kBool);
  for (auto t : set) result[t][0] = true;
  return result;
}

double number(const at::Tensor& tensor, std::int64_t t, std::int64_t b = 0) {
  return tensor[t][b].item<double>();
}

// Three steps of one environment: rewards 1 2 3, values .5 1 1.5, 2 to follow.
gae_inputs three_steps() {
  return {.reward = column({1, 2, 3}),
          .value = column({0.5f, 1.0f, 1.5f}),
          .terminated = flags(3, {}),
          .truncated = flags(3, {}),
          .final_value = at::zeros({3, 1}),
          .bootstrap_value = at::tensor({2.0f})};
}

// Stable-Baselines3's way, written out: rewards of truncated steps take gamma * V(terminal_obs),
// and every end cuts the recursion.
at::Tensor reference_advantage(const gae_inputs& in, double gamma, double lambda) {
  const auto terminated = in.terminated.to(at::kDouble), truncated = in.truncated.to(at::kDouble);
  const auto reward =
      in.reward.to(at::kDouble) + gamma * in.final_value * truncated * (1 - terminated);
  const auto going_on = 1.0 - at::clamp_max(terminated + truncated, 1.0);
  auto advantage = at::zeros_like(reward);
  auto last = at::zeros_like(in.bootstrap_value, at::kDouble);
  for (std::int64_t t = reward.size(0) - 1; t >= 0; --t) {
    const auto next = t + 1 == reward.size(0) ? in.bootstrap_value : in.value[t + 1];
    const auto delta = reward[t] + gamma * next * going_on[t] - in.value[t];
    last = delta + gamma * lambda * going_on[t] * last;
    advantage[t] = last;
  }
  return advantage.to(at::kFloat);
}

}  // namespace

TEST_CASE("gae: three steps worked by hand", "[losses]") {
  // gamma .9, lambda .8, so gamma lambda .72
  // delta_2 = 3 + .9 * 2   - 1.5 = 3.3   A_2 = 3.3
  // delta_1 = 2 + .9 * 1.5 - 1   = 2.35  A_1 = 2.35 + .72 * 3.3   = 4.726
  // delta_0 = 1 + .9 * 1   - .5  = 1.4   A_0 = 1.4  + .72 * 4.726 = 4.80272
  const auto out = gae(three_steps(), {.gamma = 0.9, .lambda = 0.8});
  CHECK(number(out.advantage, 2) == Approx(3.3));
  CHECK(number(out.advantage, 1) == Approx(4.726));
  CHECK(number(out.advantage, 0) == Approx(4.80272));
  CHECK(number(out.returns, 0) == Approx(5.30272));
}

TEST_CASE("gae: a terminated step sees nothing that follows it", "[losses]") {
  auto in = three_steps();
  in.terminated = flags(3, {1});
  in.truncated = flags(3, {1});  // and where both are said, it is terminated
  in.final_value = at::full({3, 1}, 100.0f);
  const auto out = gae(in, {.gamma = 0.9, .lambda = 0.8});
  CHECK(number(out.advantage, 1) == Approx(2.0 - 1.0));
  CHECK(number(out.advantage, 0) == Approx(1.4 + 0.72 * 1.0));
}

TEST_CASE("gae: a truncated step is followed by its final value alone", "[losses]") {
  auto in = three_steps();
  in.truncated = flags(3, {1});
  in.final_value = column({0, 4, 0});
  const auto out = gae(in, {.gamma = 0.9, .lambda = 0.8});
  // delta_1 = 2 + .9 * 4 - 1 = 4.6
  CHECK(number(out.advantage, 1) == Approx(4.6));
  CHECK(number(out.advantage, 0) == Approx(1.4 + 0.72 * 4.6));
}

TEST_CASE("gae: equals adding gamma V(terminal_obs) to the reward of truncated steps", "[losses]") {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
  const auto random = [&](at::IntArrayRef sizes) { return at::randn(sizes, generator); };
  const gae_inputs in{.reward = random({50, 4}),
                      .value = random({50, 4}),
                      .terminated = random({50, 4}) > 1.5,
                      .truncated = random({50, 4}) > 1.5,
                      .final_value = random({50, 4}),
                      .bootstrap_value = random({4})};
  REQUIRE(in.truncated.logical_and(in.terminated.logical_not()).any().item<bool>());
  const auto out = gae(in, {.gamma = 0.97, .lambda = 0.9});
  CHECK(at::allclose(out.advantage, reference_advantage(in, 0.97, 0.9), 1e-5, 1e-5));
  CHECK(at::equal(out.returns, out.advantage + in.value));
}

TEST_CASE("gae: lambda 1 gives the discounted return less the value, lambda 0 one step",
          "[losses]") {
  const auto monte_carlo = gae(three_steps(), {.gamma = 0.9, .lambda = 1.0});
  CHECK(number(monte_carlo.returns, 0) == Approx(1 + 0.9 * 2 + 0.81 * 3 + 0.729 * 2));
  const auto one_step = gae(three_steps(), {.gamma = 0.9, .lambda = 0.0});
  CHECK(number(one_step.returns, 0) == Approx(1 + 0.9 * 1.0));
}

TEST_CASE("gae: with a time limit the value of an endless reward of 1 is 1 / (1 - gamma)",
          "[losses]") {
  // Episodes are cut at 8 steps. Values are fitted to the returns until nothing changes: 50, if a
  // truncated step is followed by the value of its last observation; far below, were it terminated.
  const double gamma = 0.98;
  const auto fitted = [&](bool truncated) {
    auto value = at::zeros({8, 1});
    for (int sweep = 0; sweep < 200; ++sweep) {
      const auto end = flags(8, {7}), none = flags(8, {});
      value = gae({.reward = at::ones({8, 1}),
                   .value = value,
                   .terminated = truncated ? none : end,
                   .truncated = truncated ? end : none,
                   .final_value = value[0].expand({8, 1}),
                   .bootstrap_value = at::zeros({1})},
                  {.gamma = gamma})
                  .returns;
    }
    return number(value, 0);
  };
  CHECK(fitted(true) == Approx(1.0 / (1.0 - gamma)).margin(0.1));
  CHECK(fitted(false) < 8.0);
}

TEST_CASE("gae: an invalid step spoils no other", "[losses]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto in = three_steps();
  in.reward = column({1, nan, 3});
  in.valid = flags(3, {0, 2});
  const auto out = gae(in, {.gamma = 0.9, .lambda = 0.8});
  CHECK(number(out.advantage, 0) == Approx(1.4));
  CHECK(number(out.advantage, 1) == 0.0);
  CHECK(number(out.advantage, 2) == Approx(3.3));
  in.value = column({0.5f, nan, 1.5f});
  CHECK(number(gae(in).advantage, 0) == Approx(0.5));
}

TEST_CASE("gae: wrong shapes are refused with the name of the input", "[losses]") {
  auto in = three_steps();
  in.bootstrap_value = at::zeros({2});
  CHECK_THROWS_WITH(gae(in), Catch::Contains("bootstrap_value must be [1], got [2]"));
  in = three_steps();
  in.truncated.reset();
  CHECK_THROWS_WITH(gae(in), Catch::Contains("truncated must be [3, 1]"));
}
