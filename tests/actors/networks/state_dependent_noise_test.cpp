#include "actors/torch/torch.hpp"

#include "actors/networks/state_dependent_noise.hpp"

#include <cmath>

#include "actors/networks/acting_network.hpp"
#include "actors/networks/actor_critic.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using detail::state_dependent_noise;

network_shape box() { return {.obs_size = 3, .continuous_size = 2}; }

TEST_CASE("state_dependent_noise: the variance is that of features times a Gaussian matrix") {
  state_dependent_noise noise(2, 1, false);
  const float parameters[] = {std::log(0.5f), std::log(2.0f)};
  const float phi[] = {1, 0, 2, -3, 0, 0};
  const float* log_std = noise.log_std(parameters, phi, 3);
  CHECK(log_std[0] == Approx(0.5 * std::log(0.25 + 1e-6)));
  CHECK(log_std[1] == Approx(0.5 * std::log(4 * 0.25 + 9 * 4.0 + 1e-6)));
  CHECK(log_std[2] == Approx(0.5 * std::log(1e-6)));  // no feature, no exploration

  const float one[] = {1, 1}, other[] = {-1, 0.5f};
  const float* draws[] = {one, other, one};
  const float* departure = noise.depart(phi, 3, draws);
  CHECK(departure[0] == Approx(0.5));
  CHECK(departure[1] == Approx(2 * 0.5 * -1 + -3 * 2 * 0.5));
  CHECK(departure[2] == 0);
}

TEST_CASE("state_dependent_noise: expln grows slowly above 1, and is smooth there") {
  state_dependent_noise exp(1, 1, false), expln(1, 1, true);
  const float phi[] = {1};
  const auto std_of = [&](state_dependent_noise& noise, float p) {
    return std::sqrt(std::exp(2 * noise.log_std(&p, phi, 1)[0]) - 1e-6);
  };
  CHECK(std_of(expln, -1.0f) == Approx(std_of(exp, -1.0f)));
  CHECK(std_of(expln, 3.0f) == Approx(std::log(4.0) + 1));
  CHECK(std_of(exp, 3.0f) == Approx(std::exp(3.0)));
  CHECK(std_of(expln, 1e-4f) - std_of(expln, -1e-4f) == Approx(2e-4).epsilon(0.01));
}

TEST_CASE("actor_critic: with use_sde actions have the deviation that log-probabilities are of") {
  actor_critic model(box(), {.hidden = {8}, .log_std_init = -0.5f, .use_sde = true}, 3);
  CHECK(model.noise_size() == 16);
  CHECK(model.action_std().size() == 16);
  CHECK(model.action_std()[0] == Approx(std::exp(-0.5)));
  constexpr int rows = 20'000;
  const auto obs = at::tensor({0.3f, -1.0f, 0.7f}).expand({rows, 3}).contiguous();
  action_random random(5);
  const auto mean = model.act(obs.narrow(0, 0, 1), random, true).action;

  // Once by a matrix for each row, once drawn from the distribution itself.
  std::vector<float> normals(rows * model.noise_size());
  random.fill_normal(normals);
  std::vector<const float*> matrices;
  for (int row = 0; row < rows; ++row) matrices.push_back(&normals[row * model.noise_size()]);
  auto by_matrix = at::empty({rows, 2}), log_prob = at::empty({rows}), value = at::empty({rows});
  model.act(obs.data_ptr<float>(), rows, random, false, {.value = by_matrix.data_ptr<float>()},
            log_prob.data_ptr<float>(), value.data_ptr<float>(), matrices.data());
  const auto drawn = model.act(obs, random).action;

  // log p at the mean is -sum of log std - log(2 pi)
  const auto at_mean = evaluated(model, obs.narrow(0, 0, 1), mean);
  for (const auto& actions : {by_matrix, drawn}) {
    CHECK(at::allclose(actions.mean(0), mean[0], 0.0, 0.05));
    const auto log_std = actions.std(0).log().sum().item<double>();
    CHECK(at_mean.log_prob[0].item<double>() == Approx(-log_std - std::log(2 * M_PI)).margin(0.03));
    CHECK(at_mean.entropy[0].item<double>() ==
          Approx(log_std + 1 + std::log(2 * M_PI)).margin(0.03));
  }
  CHECK(at::allclose(evaluated(model, obs, by_matrix).log_prob, log_prob, 1e-5, 1e-5));
}

TEST_CASE("actor_critic: features are not learned from the exploration they make") {
  actor_critic model(box(), {.hidden = {8}, .use_sde = true}, 3);
  const auto obs = at::ones({4, 3});
  const auto actions = at::zeros({4, 2}), ones = at::ones({4}), zeros = at::zeros({4});
  const row_weights weights{zeros, ones, zeros};
  for (const bool fused : {true, false}) {
    evaluated_by(*make_graph(fused, model.link()), model, obs, rows_of(actions), &weights);
    for (const auto& [name, part] : model.named_parameters()) {
      INFO(name);
      const auto gradient = model.gradient().narrow(0, part.storage_offset(), part.numel());
      CHECK((gradient.abs().sum().item<float>() > 0) == (name == "log_std"));
    }
  }
}

TEST_CASE("single_network: explores by the same noise until it is drawn anew") {
  network_options options{.hidden = {4}, .use_sde = true, .kind = network_kind::squashed_gaussian};
  single_network network(box(), options);
  CHECK(network.parameter_count() == 3 * 4 + 4 + 4 * 2 + 2 + 4 * 2);
  auto parameters = at::full({network.parameter_count()}, 0.1f);
  parameters[3 * 4 + 4 + 4 * 2] = 9.0f;  // the first mean's bias
  network.load_parameters(parameters);
  const float obs[] = {1, 1, 1, 1, 1, 1};
  action_random random(1);
  const auto act = [&](bool deterministic) {
    std::vector<float> actions(4);
    network.act(obs, 2, random, deterministic, {.value = actions.data()});
    return actions;
  };
  CHECK(act(true)[0] == Approx(std::tanh(2.0)));  // clipped
  CHECK(act(false) != act(false));                // drawn by each row, from no noise in particular
  network.draw_noise(2, random);
  const auto first = act(false);
  CHECK(first[1] != first[3]);  // each row its own
  CHECK(act(false) == first);
  CHECK(act(true)[1] == act(true)[3]);
  network.draw_noise(2, random);
  CHECK(act(false) != first);

  options.kind = network_kind::squashed;
  CHECK_THROWS_WITH(single_network(box(), options), Catch::Contains("gives no actions for"));
}

TEST_CASE("actor_critic: use_sde is refused where actions are discrete") {
  CHECK_THROWS_WITH(actor_critic({.obs_size = 4, .discrete_actions = 2}, {.use_sde = true}, 1),
                    Catch::Contains("use_sde of true, expected false where actions are discrete"));
}

}  // namespace
}  // namespace troupe
