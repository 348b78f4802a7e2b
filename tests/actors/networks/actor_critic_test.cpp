#include "actors/torch/torch.hpp"

#include "actors/networks/actor_critic.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/actors/gradients/evaluated.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

network_shape discrete() { return {.obs_size = 4, .discrete_actions = 3}; }
network_shape continuous() { return {.obs_size = 5, .continuous_size = 2}; }
network_shape several() { return {.obs_size = 3, .multi_discrete = {2, 4, 3}}; }

at::Tensor some_obs(int rows, int size, std::uint64_t seed = 9) {
  action_random random(seed);
  auto obs = at::empty({rows, size}, at::kFloat);
  for (std::int64_t i = 0; i < obs.numel(); ++i) {
    obs.data_ptr<float>()[i] = static_cast<float>(random.normal());
  }
  return obs;
}

network_shape bits() { return {.obs_size = 3, .multi_binary = 3}; }
network_shape mixed() {
  return {.obs_size = 3, .continuous_size = 2, .multi_discrete = {3, 2}, .multi_binary = 2};
}

at::Tensor named(const actor_critic& model, const std::string& name) {
  for (const auto& [its_name, tensor] : model.named_parameters()) {
    if (its_name == name) return tensor.detach();
  }
  FAIL("no parameter " << name);
  return {};
}

}  // namespace

TEST_CASE("actor_critic: weights start orthogonal with the gains of the reference", "[policy]") {
  actor_critic model(discrete(), {}, 1);
  CHECK(model.parameter_count() ==
        (4 * 64 + 64 + 64 * 64 + 64 + 64 * 3 + 3) + (4 * 64 + 64 + 64 * 64 + 64 + 64 + 1));
  const auto identity = [](int n, double gain) { return at::eye(n) * gain * gain; };
  const auto first = named(model, "actor.0.weight");  // [4, 64]
  CHECK(at::allclose(at::mm(first, first.t()), identity(4, std::sqrt(2.0)), 1e-5, 1e-5));
  const auto second = named(model, "critic.1.weight");  // [64, 64]
  CHECK(at::allclose(at::mm(second, second.t()), identity(64, std::sqrt(2.0)), 1e-5, 1e-5));
  const auto head = named(model, "actor.2.weight");  // [64, 3]
  CHECK(at::allclose(at::mm(head.t(), head), identity(3, 0.01), 1e-5, 1e-8));
  const auto value = named(model, "critic.2.weight");  // [64, 1]
  CHECK(value.norm().item<double>() == Approx(1.0));
  CHECK(named(model, "actor.1.bias").abs().max().item<double>() == 0.0);
}

TEST_CASE("actor_critic: without orthogonal start weights are those of nn.Linear", "[policy]") {
  actor_critic model(discrete(), {.ortho_init = false}, 1);
  const auto weight = named(model, "actor.1.weight");
  CHECK(weight.abs().max().item<double>() <= 1.0 / 8.0);
  CHECK(weight.std().item<double>() == Approx(1.0 / 8.0 / std::sqrt(3.0)).epsilon(0.05));
  CHECK(named(model, "actor.1.bias").abs().max().item<double>() > 0.0);
}

TEST_CASE("actor_critic: the seed decides the weights, the global generator does not", "[policy]") {
  at::manual_seed(1);
  actor_critic one(discrete(), {}, 5);
  at::manual_seed(2);
  actor_critic same(discrete(), {}, 5), other(discrete(), {}, 6);
  CHECK(at::equal(one.parameters(), same.parameters()));
  CHECK_FALSE(at::equal(one.parameters(), other.parameters()));
}

TEST_CASE("actor_critic: layers are views of the flat block", "[policy]") {
  actor_critic model(continuous(), {}, 1);
  std::int64_t total = 0;
  for (const auto& [name, view] : model.named_parameters()) {
    CHECK(view.data_ptr<float>() == model.parameters().data_ptr<float>() + total);
    total += view.numel();
  }
  CHECK(total == model.parameter_count());
}

TEST_CASE("actor_critic: act and both engines agree on log-probability and value", "[policy]") {
  for (const auto& shape : {discrete(), continuous(), several(), bits(), mixed()}) {
    for (auto kind : {activation::tanh, activation::relu}) {
      INFO(to_string(shape));
      actor_critic model(shape, {.hidden = {32, 48}, .hidden_activation = kind}, 2);
      action_random random(3);
      const auto obs = some_obs(130, shape.obs_size);
      const auto acted = model.act(obs, random);
      for (const bool fused : {true, false}) {
        const auto by = make_graph(fused, model.link());
        const auto actions = rows_of(acted.action, acted.continuous);
        const auto now = evaluated_by(*by, model, obs, actions, nullptr);
        CHECK(at::allclose(acted.log_prob, now.log_prob, 1e-5, 1e-5));
        CHECK(at::allclose(acted.value, now.value, 1e-5, 1e-5));
      }
      CHECK(at::equal(model.values(obs), acted.value));
    }
  }
}

TEST_CASE("actor_critic: the gradient is the same on both engines", "[policy]") {
  for (auto shape : {discrete(), continuous(), several(), bits(), mixed()}) {
    for (const int with : {0, 1, 2, 3}) {
      const bool normalizes = with & 1, masks = with & 2;
      if (masks && shape.categories().empty()) continue;
      CAPTURE(to_string(shape), normalizes, masks);
      constexpr int count = 37;
      auto seen = shape;
      if (masks) {
        for (const int options : shape.categories()) seen.mask_size += options;
        seen.critic_only = 2;
        seen.obs_size += seen.mask_size + seen.critic_only;
      }
      actor_critic model(seen, {.hidden = {24, 40}, .normalize_obs = normalizes}, 4);
      model.parameters().add_(some_obs(1, model.parameter_count())[0], 0.1);
      action_random random(5);
      const auto obs = some_obs(count, seen.obs_size);
      std::int64_t first = seen.actor_inputs();
      for (const int options : shape.categories()) {  // each choice has an option that is allowed
        if (masks) obs.narrow(1, first, 1).fill_(1.0f);
        first += options;
      }
      const auto acted = model.act(obs, random);
      const auto d = some_obs(3, count, 11);
      const row_weights weights{d[0], d[1], d[2]};
      const auto actions = rows_of(acted.action, acted.continuous);

      const auto expected =
          evaluated_by(*make_graph(false, model.link()), model, obs, actions, &weights);
      const auto by_libtorch = model.gradient().clone();
      const auto now = evaluated_by(*make_graph(true, model.link()), model, obs, actions, &weights);
      CHECK(at::allclose(now.log_prob, expected.log_prob, 1e-5, 1e-5));
      CHECK(at::allclose(now.log_prob, acted.log_prob, 1e-5, 1e-5));
      CHECK(at::allclose(now.entropy, expected.entropy, 1e-5, 1e-5));
      CHECK(at::allclose(now.value, acted.value, 1e-5, 1e-5));
      CHECK(at::allclose(model.gradient(), by_libtorch, 1e-4, 1e-5));
      CHECK(by_libtorch.norm().item<double>() > 1.0);
    }
  }
}

TEST_CASE("actor_critic: sampled choices come as often as their probability says", "[policy]") {
  actor_critic model(discrete(), {}, 2);
  auto bias = named(model, "actor.2.bias");
  bias.copy_(at::tensor({1.0f, 0.0f, -1.0f}));
  action_random random(3);
  const auto obs = at::zeros({20000, 4});  // hidden layers are then zero, logits the bias
  const auto acted = model.act(obs, random);
  const auto expected = at::softmax(bias, 0);
  for (int choice = 0; choice < 3; ++choice) {
    const double share = (acted.action == choice).to(at::kDouble).mean().item<double>();
    CHECK(share == Approx(expected[choice].item<double>()).margin(0.01));
  }
  const auto likeliest = model.act(obs, random, true).action;
  CHECK(likeliest.max().item<std::int64_t>() == 0);
}

TEST_CASE("actor_critic: bits come as often as their probability says, by hand", "[policy]") {
  actor_critic model(mixed(), {}, 2);
  // Gaussian means, the logits of three and of two options, and those of two bits.
  auto bias = named(model, "actor.2.bias");
  bias.copy_(at::tensor({0.5f, -0.5f, 0.0f, 2.0f, 1.0f, 0.0f, 3.0f, std::log(3.0f), -1.0f}));
  action_random random(3);
  const auto obs = at::zeros({20000, 3});
  const auto acted = model.act(obs, random);
  CHECK(acted.action.sizes() == at::IntArrayRef({20000, 4}));
  CHECK(acted.continuous.sizes() == at::IntArrayRef({20000, 2}));
  const auto share = acted.action.to(at::kDouble).mean(0);
  CHECK(share[2].item<double>() == Approx(0.75).margin(0.01));  // 3 to 1
  CHECK(share[3].item<double>() == Approx(1 / (1 + std::exp(1.0))).margin(0.01));
  const auto likeliest = model.act(obs, random, true);
  CHECK(at::equal(likeliest.action[0], at::tensor({1, 1, 1, 0}, at::kLong)));
  CHECK(at::equal(likeliest.continuous[0], at::tensor({0.5f, -0.5f})));
  const double choices =
      2 - std::log(1 + std::exp(2.0) + std::exp(1.0)) + 3 - std::log(1 + std::exp(3.0));
  const double both_bits = std::log(0.75) - std::log(1 + std::exp(-1.0));
  CHECK(likeliest.log_prob[0].item<double>() ==
        Approx(choices + both_bits - std::log(2 * M_PI)).margin(1e-5));
}

TEST_CASE("actor_critic: Gaussian actions have the mean and deviation asked for", "[policy]") {
  actor_critic model(continuous(), {.log_std_init = std::log(0.5f)}, 2);
  named(model, "actor.2.bias").copy_(at::tensor({3.0f, -1.0f}));
  action_random random(3);
  const auto obs = at::zeros({20000, 5});
  const auto action = model.act(obs, random).action;
  CHECK(action.mean(0)[0].item<double>() == Approx(3.0).margin(0.02));
  CHECK(action.std(0)[1].item<double>() == Approx(0.5).margin(0.01));
  CHECK(model.action_std().at(0) == Approx(0.5));

  // At the mean, with A = 2: log p = -2 (log 0.5 + log(2 pi) / 2) = 1.386294 - 1.837877
  const auto likeliest = model.act(obs.narrow(0, 0, 1), random, true);
  CHECK(likeliest.action[0][0].item<float>() == 3.0f);
  CHECK(likeliest.log_prob[0].item<double>() == Approx(-0.451583).margin(1e-5));
  // entropy of each: 1/2 + log(2 pi) / 2 + log 0.5 = 0.725791
  const auto entropy = evaluated(model, obs.narrow(0, 0, 1), likeliest.action).entropy;
  CHECK(entropy[0].item<double>() == Approx(2 * 0.725791).margin(1e-5));
}

TEST_CASE("actor_critic: loading copies weights, a wrong size is refused", "[policy]") {
  actor_critic from(discrete(), {}, 1), to(discrete(), {}, 2), other(continuous(), {}, 1);
  to.load_parameters(from.parameters());
  CHECK(at::equal(to.parameters(), from.parameters()));
  to.parameters().zero_();
  CHECK_FALSE(at::equal(to.parameters(), from.parameters()));
  CHECK_THROWS_WITH(to.load_parameters(other.parameters()),
                    Catch::Contains("must be float [9220]"));
}

TEST_CASE("actor_critic: impossible shapes and wrong observations are refused", "[policy]") {
  CHECK_THROWS_AS(actor_critic({.obs_size = 4}, {}, 1), std::invalid_argument);
  CHECK_THROWS_AS(actor_critic({.obs_size = 0, .discrete_actions = 2}, {}, 1),
                  std::invalid_argument);
  CHECK_THROWS_AS(actor_critic({.obs_size = 4, .discrete_actions = 2, .continuous_size = 1}, {}, 1),
                  std::invalid_argument);
  actor_critic model(discrete(), {}, 1);
  action_random random(1);
  CHECK_THROWS_WITH(model.act(at::zeros({2, 5}), random), Catch::Contains("[N, 4]"));
}

TEST_CASE("actor_critic: an observation that is NaN shows in what comes out", "[policy]") {
  actor_critic model(discrete(), {}, 1);
  action_random random(1);
  auto obs = at::zeros({2, 4});
  obs[1][2] = std::numeric_limits<float>::quiet_NaN();
  const auto acted = model.act(obs, random);
  CHECK(std::isfinite(acted.value[0].item<float>()));
  CHECK(std::isnan(acted.value[1].item<float>()));
  CHECK(std::isnan(acted.log_prob[1].item<float>()));
}
