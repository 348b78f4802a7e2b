#include "algorithms/off_policy/td3/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"

#include <cmath>

#include "tests/algorithms/off_policy/aim_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

td3_options small(td3_options options = {}) {
  options.lr = 3e-3;
  options.network.hidden = {32, 32};
  return options;
}

}  // namespace

TEST_CASE("td3: actor and targets move every policy_delay-th step alone", "[td3]") {
  auto options = small();
  options.policy_delay = 3;
  td3_learner learner(one_action, options, 1);
  action_random random(1);
  for (int step = 1; step <= 6; ++step) {
    const auto before = parts_of(learner);
    const auto metrics = learner.update(aim(random, 16));
    const auto after = parts_of(learner);
    const bool moves = step % 3 == 0;
    CHECK(metrics.has("train/actor_loss") == moves);
    CHECK((after["actor"] != before["actor"]) == moves);
    CHECK((after["target_actor"] != before["target_actor"]) == moves);
    CHECK((after["target_critics"] != before["target_critics"]) == moves);
    CHECK(after["critics"] != before["critics"]);
  }
}

TEST_CASE("td3: target actions have noise, which is clipped", "[td3]") {
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    td3_options options;
    options.network.hidden = {};
    options.backend = backend;
    options.target_policy_noise = 1e6;
    options.target_noise_clip = 0.25;
    td3_learner learner(one_action, options, 1);
    auto state = parts_of(learner);
    // The target actor chooses 0 everywhere; of s = 1 the target critics are 1 + 2 a and 1.5 + 3 a,
    // the online ones 0.
    std::ranges::fill(state["target_actor"], 0.0f);
    std::ranges::fill(state["critics"], 0.0f);
    std::ranges::fill(state["target_critics"], 0.0f);
    const auto second = learner.critics().stride();
    std::ranges::copy(std::vector<float>{1.0f, 2.0f, 0.0f}, state["target_critics"].begin());
    std::ranges::copy(std::vector<float>{1.0f, 3.0f, 0.5f},
                      state["target_critics"].begin() + static_cast<std::ptrdiff_t>(second));
    set_parts(learner, state);
    transition_batch batch;
    batch.resize(64, one_action);
    std::ranges::fill(batch.next_obs, 1.0f);
    std::ranges::fill(batch.discount, 1.0f);
    learner.update(batch);
    int low = 0;
    for (const float error : learner.last().td_errors) {  // of a = -0.25 and a = 0.25
      const bool is_low = error < 1.0f;
      CHECK(error == Approx(is_low ? 0.5 : 1.5));
      low += is_low;
    }
    CHECK(low > 10);
    CHECK(low < 54);
  }
}

TEST_CASE("td3: DDPG is TD3 with one critic, no delay and no noise", "[td3]") {
  td3_learner learner(one_action, small(ddpg_options()), 1);
  CHECK(learner.critics().count() == 1);
  action_random random(1);
  const auto before = parts_of(learner);
  CHECK(learner.update(aim(random, 16)).has("train/actor_loss"));
  CHECK(parts_of(learner).random == before.random);
}

TEST_CASE("td3: acting adds noise and stays within bounds", "[td3]") {
  td3_learner learner(one_action, small(), 1);
  learner.policy().set_exploration(0.5);
  action_random random(1);
  const std::vector<float> obs(500, 0.3f);
  std::vector<float> action(500);
  learner.policy().act(obs.data(), 500, random, true, {.value = action.data()});
  const float mean = action[0];
  CHECK(action == std::vector<float>(500, mean));
  learner.policy().act(obs.data(), 500, random, false, {.value = action.data()});
  double squares = 0.0;
  for (const float a : action) {
    CHECK(std::abs(a) <= 1.0f);
    squares += (a - mean) * (a - mean);
  }
  CHECK(std::sqrt(squares / 500) > 0.3);
  CHECK_THROWS_AS(learner.policy().set_exploration(-1.0), std::invalid_argument);
}

TEST_CASE("td3: learns the action that the observation asks for", "[td3]") {
  for (const auto& options : {small(), small(ddpg_options())}) {
    td3_learner learner(one_action, options, 1);
    action_random random(2);
    for (int i = 0; i < 1500; ++i) learner.update(aim(random, 64));
    const std::vector<float> obs = {-0.8f, 0.0f, 0.8f};
    std::vector<float> action(3);
    learner.policy().act(obs.data(), 3, random, true, {.value = action.data()});
    for (int i = 0; i < 3; ++i) CHECK(action[i] == Approx(obs[i] / 2).margin(0.12));
  }
}

}  // namespace troupe
