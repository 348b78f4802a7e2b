#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/reinforce/reinforce.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/learner.hpp"
#include "runtime/base/log.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/gradients/reference_policy.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// The gradient of one update, drawn at random, is that of Williams's equation 11 by autograd: the
/// mean of -(G - b) log pi, and of the baseline's squared error, over steps of whole episodes.
void check_gradient(std::uint64_t seed) {
  action_random random(seed);
  const auto below = [&](int n) { return static_cast<int>(random.below(n)); };
  network_shape shape{.obs_size = 1 + below(6)};
  if (below(2)) {
    shape.discrete_actions = 2 + below(4);
  } else {
    shape.continuous_size = 1 + below(3);
  }
  const int T = 10 + below(30);
  reinforce_config config;
  config.rollout.n_steps = T;
  config.policy.hidden = {1 + below(40)};
  config.trainer.baseline = below(2);
  INFO("seed " << seed << ", " << to_string(shape, config.policy)
               << (config.trainer.baseline ? ", baseline" : ""));

  config.seed = seed;
  auto learner = make_learner(shape, config);
  const reference_policy reference(learner.model());
  auto batch = acted_batch(learner.model(), T, 1, seed);
  batch.truncated.fill_(false);
  batch.terminated[T / 2][0] = true;

  int last = T - 1;
  while (!batch.terminated[last][0].item<bool>()) --last;
  auto returns = at::zeros({last + 1});
  double following = 0;
  for (int t = last; t >= 0; --t) {
    if (batch.terminated[t][0].item<bool>()) following = 0;
    following = batch.reward[t][0].item<double>() + 0.99 * following;
    returns[t] = following;
  }
  const auto now = reference.evaluate(batch.obs.flatten(0, 1).narrow(0, 0, last + 1),
                                      batch.action.flatten(0, 1).narrow(0, 0, last + 1));
  const auto value = now.value.detach();
  auto loss = config.trainer.baseline ? -((returns - value) * now.log_prob).mean() +
                                            0.5 * (now.value - returns).square().mean()
                                      : -(returns * now.log_prob).mean();
  const auto expected = reference.gradient_of(loss);
  const auto metrics = learner.update(batch);
  CHECK(metrics.trained_rows == last + 1);
  const auto scale = expected.abs().max().item<double>();
  const auto difference = (learner.model().gradient() - expected).abs().max().item<double>();
  CHECK(difference <= 1e-4 * scale + 1e-6);
}

}  // namespace

TEST_CASE("reinforce: the gradient is that of its loss by autograd") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) check_gradient(seed);
}

TEST_CASE("reinforce: the gradient is that of its loss by autograd, a thousand times",
          "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) check_gradient(seed);
}

TEST_CASE("reinforce: learns to balance CartPole for a while, with a baseline and without") {
  log::set_level("off");
  const temporary_folder folder;
  reinforce_config config;
  config.total_steps = 40'000;
  config.evaluation.every_steps = 0;
  config.evaluation.final_episodes = 20;
  for (const bool baseline : {true, false}) {
    config.trainer.baseline = baseline;
    config.seed = 1;
    system sys({.deterministic = true, .seed = 1});
    const auto s = sys.run(train_in(sys, config, {.root = folder.path.string()}));
    INFO((baseline ? "with a baseline" : "without one"));
    CHECK(s.algo == "reinforce");
    CHECK(s.eval_mean >= 100);  // at random: 22
  }
}

}  // namespace troupe
