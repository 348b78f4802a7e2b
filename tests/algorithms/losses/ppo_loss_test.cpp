#include "actors/torch/torch.hpp"

#include "algorithms/losses/ppo_loss.hpp"

#include <cmath>

#include "algorithms/losses/ppo_loss_rows.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

at::Tensor logs(std::vector<float> numbers) { return at::tensor(numbers).log(); }

// Ratios 1.5, 0.5, 1.1 and 1.5 with advantages 1, 1, 2 and -1.
ppo_loss_inputs four_rows() {
  return {.log_prob = logs({0.6f, 0.2f, 0.44f, 0.6f}),
          .entropy = at::tensor({0.5f, 0.6f, 0.7f, 0.8f}),
          .value = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}),
          .behaviour_log_prob = logs({0.4f, 0.4f, 0.4f, 0.4f}),
          .advantage = at::tensor({1.0f, 1.0f, 2.0f, -1.0f}),
          .returns = at::tensor({1.5f, 2.0f, 2.0f, 5.0f}),
          .old_value = at::tensor({1.0f, 1.5f, 3.5f, 4.0f})};
}

ppo_loss_inputs random_rows(int count) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
  const auto random = [&] { return at::randn({count}, generator); };
  const auto behaviour = random() - 2;
  const auto proximal = behaviour + 0.8 * random();
  return {.log_prob = proximal + 0.3 * random(),
          .entropy = random().abs(),
          .value = random(),
          .behaviour_log_prob = behaviour,
          .proximal_log_prob = proximal,
          .advantage = 3 * random() + 1,
          .returns = random(),
          .old_value = random()};
}

void compare(const ppo_loss_metrics& a, const ppo_loss_metrics& b) {
  CHECK(a.loss == Approx(b.loss).margin(1e-5));
  CHECK(a.policy_gradient_loss == Approx(b.policy_gradient_loss).margin(1e-5));
  CHECK(a.value_loss == Approx(b.value_loss).margin(1e-5));
  CHECK(a.entropy_loss == Approx(b.entropy_loss).margin(1e-5));
  CHECK(a.approx_kl == Approx(b.approx_kl).margin(1e-5));
  CHECK(a.clip_fraction == Approx(b.clip_fraction).margin(1e-6));
  CHECK(a.importance_weight == Approx(b.importance_weight).margin(1e-5));
}

}  // namespace

TEST_CASE("ppo_loss: four rows worked by hand", "[losses]") {
  // min(r A, clip(r, .8, 1.2) A): 1.2, .5, 2.2, -1.5; mean .6
  // squared errors .25, 0, 1, 1; mean .5625. Entropy .65.
  // (r - 1) - log r: .0945349, .1931472, .0046898, .0945349; mean .0967267
  const auto out = ppo_loss(four_rows(), {.ent_coef = 0.1});
  CHECK(out.metrics.policy_gradient_loss == Approx(-0.6));
  CHECK(out.metrics.value_loss == Approx(0.5625));
  CHECK(out.metrics.entropy_loss == Approx(-0.65));
  CHECK(out.metrics.approx_kl == Approx(0.0967267).epsilon(1e-4));
  CHECK(out.metrics.clip_fraction == Approx(0.75));
  CHECK(out.metrics.importance_weight == Approx(1.0));
  CHECK(out.loss.item<double>() == Approx(-0.6 - 0.065 + 0.28125));
}

TEST_CASE("ppo_loss: value clipping holds the prediction near the old one", "[losses]") {
  // predictions 1, 1.5 + .2, 3.5 - .2, 4: squared errors .25, .09, 1.69, 1; mean .7575
  const auto out = ppo_loss(four_rows(), {.clip_range_vf = 0.2});
  CHECK(out.metrics.value_loss == Approx(0.7575));
}

TEST_CASE("ppo_loss: the larger one of the losses of the value and of the clipped value",
          "[losses]") {
  // Squared errors of the values .25, 0, 1, 1, and of the clipped ones .25, .09, 1.69, 1.
  const ppo_loss_options larger{.clip_range_vf = 0.2, .clip_vf_loss = value_clipping::larger};
  CHECK(ppo_loss(four_rows(), larger).metrics.value_loss == Approx((0.25 + 0.09 + 1.69 + 1) / 4));
  auto in = four_rows();
  in.old_value = at::tensor({1.0f, 1.5f, 4.0f, 4.0f});
  in.value = at::tensor({1.0f, 2.0f, 1.0f, 4.0f});  // row 2: error 1, that of the clipped value 1.8
  CHECK(ppo_loss(in, larger).metrics.value_loss == Approx((0.25 + 0.09 + 3.24 + 1) / 4));
  in.value = at::tensor({1.0f, 2.0f, 7.0f, 4.0f});  // row 2: error 5, that of the clipped value 2.2
  in.value.set_requires_grad(true);
  const auto out = ppo_loss(in, larger);
  CHECK(out.metrics.value_loss == Approx((0.25 + 0.09 + 25 + 1) / 4));
  out.loss.backward();
  CHECK(at::allclose(in.value.grad(), at::tensor({-0.125f, 0.0f, 1.25f, -0.25f}), 1e-5, 1e-6));
}

TEST_CASE("ppo_loss: beyond huber_delta a value's loss grows linearly", "[losses]") {
  auto in = four_rows();  // errors .5, 0, 1, 1 in their size
  in.value.set_requires_grad(true);
  const auto out = ppo_loss(in, {.huber_delta = 0.8});
  CHECK(out.metrics.value_loss == Approx((0.25 + 0 + 2 * 0.8 * (2 - 0.8)) / 4));
  out.loss.backward();
  CHECK(at::allclose(in.value.grad(), at::tensor({-0.125f, 0.0f, 0.2f, -0.2f}), 1e-5, 1e-6));
  CHECK(ppo_loss(four_rows(), {.huber_delta = 10}).metrics.value_loss == Approx(0.5625));
}

TEST_CASE("ppo_loss: advantages are normalised by the unbiased deviation, one alone is not",
          "[losses]") {
  using troupe::detail::normalized;
  auto in = four_rows();
  in.advantage = normalized(in.advantage);
  in.log_prob = in.behaviour_log_prob;  // ratio 1: the loss is minus the mean advantage, 0
  CHECK(ppo_loss(in).metrics.policy_gradient_loss == Approx(0.0).margin(1e-6));
  // mean .75, deviations .25 .25 1.25 -1.75, std = sqrt(4.75 / 3); only row 0's ratio is 1.1
  in.log_prob = logs({0.44f, 0.4f, 0.4f, 0.4f});
  const double normal = 0.25 / std::sqrt(4.75 / 3);
  CHECK(ppo_loss(in).metrics.policy_gradient_loss == Approx(-0.1 * normal / 4).epsilon(1e-3));

  ppo_loss_inputs one;
  for (auto field : {&ppo_loss_inputs::log_prob, &ppo_loss_inputs::entropy, &ppo_loss_inputs::value,
                     &ppo_loss_inputs::behaviour_log_prob, &ppo_loss_inputs::advantage,
                     &ppo_loss_inputs::returns}) {
    one.*field = (four_rows().*field).narrow(0, 1, 1);
  }
  one.advantage = normalized(one.advantage);
  CHECK(ppo_loss(one).metrics.policy_gradient_loss == Approx(-0.5));
}

TEST_CASE("scale_of: equals the tensor form", "[losses]") {
  const auto advantage = random_rows(41).advantage;
  const auto [mean, scale] = troupe::detail::scale_of({advantage.data_ptr<float>(), 41});
  CHECK(
      at::allclose(scale * (advantage - mean), troupe::detail::normalized(advantage), 1e-4, 1e-6));
  const auto one = troupe::detail::scale_of({advantage.data_ptr<float>(), 1});
  CHECK(one.mean == 0.0f);
  CHECK(one.scale == 1.0f);
}

TEST_CASE("ppo_loss: stale rows weigh proximal / behaviour, at most the cap", "[losses]") {
  auto in = four_rows();
  in.proximal_log_prob = in.behaviour_log_prob;
  compare(ppo_loss(in).metrics, ppo_loss(four_rows()).metrics);

  // proximal .4 throughout as before; behaviours give weights 2 (of 4), 1, .5 and 2
  in.behaviour_log_prob = logs({0.1f, 0.4f, 0.8f, 0.2f});
  // weighted surrogates 2.4, .5, 1.1, -3; mean .25
  const auto out = ppo_loss(in);
  CHECK(out.metrics.policy_gradient_loss == Approx(-0.25));
  CHECK(out.metrics.importance_weight == Approx(5.5 / 4));
  const auto uncapped = ppo_loss(in, {.importance_cap = 10.0});
  CHECK(uncapped.metrics.importance_weight == Approx(7.5 / 4));
}

TEST_CASE("ppo_loss: clipped rows have no gradient, the others -A r / N", "[losses]") {
  auto in = four_rows();
  in.log_prob.set_requires_grad(true);
  ppo_loss(in).loss.backward();
  const auto expected = at::tensor({0.0f, -0.5f / 4, -2.2f / 4, 1.5f / 4});
  CHECK(at::allclose(in.log_prob.grad(), expected, 1e-5, 1e-6));
}

TEST_CASE("ppo_loss: rows without an action have a value loss and nothing else", "[losses]") {
  auto in = four_rows();
  in.acted = at::tensor({1, 0, 1, 0}, at::kByte);
  for (auto* leaf : {&in.log_prob, &in.entropy, &in.value}) leaf->set_requires_grad(true);
  const auto out = ppo_loss(in, {.ent_coef = 0.1});
  out.loss.backward();
  // Of the rows 0 and 2: min(r A, clip(r) A) is 1.2 and 2.2, the entropy .5 and .7.
  CHECK(out.metrics.policy_gradient_loss == Approx(-1.7));
  CHECK(out.metrics.entropy_loss == Approx(-0.6));
  CHECK(out.metrics.clip_fraction == Approx(0.5));
  CHECK(out.metrics.value_loss == Approx(0.5625));
  CHECK(at::allclose(in.log_prob.grad(), at::tensor({0.0f, 0.0f, -1.1f, 0.0f}), 1e-5, 1e-6));
  CHECK(at::allclose(in.entropy.grad(), at::tensor({-0.05f, 0.0f, -0.05f, 0.0f})));
  CHECK(in.value.grad()[3].item<float>() != 0);

  auto none = four_rows();
  none.acted = at::zeros({4}, at::kByte);
  const auto critic = ppo_loss(none);
  CHECK(critic.metrics.policy_gradient_loss == 0);
  CHECK(critic.loss.item<double>() == Approx(0.5 * 0.5625));
}

TEST_CASE("ppo_loss_with_gradient: equals the tensor form, value and gradient", "[losses]") {
  constexpr int count = 41;
  const auto acts = (at::arange(count) % 3 > 0).to(at::kByte);
  for (bool normalise : {true, false}) {
    for (bool clip_value : {true, false}) {
      for (int with = 0; with < 16; ++with) {
        const bool stale = with & 1, masked = with & 2, larger = with & 4, huber = with & 8;
        ppo_loss_options options{.ent_coef = 0.03};
        if (larger) options.clip_vf_loss = value_clipping::larger;
        if (huber) options.huber_delta = 0.6;
        if (clip_value) options.clip_range_vf = 0.4;
        auto in = random_rows(count);
        if (normalise) in.advantage = troupe::detail::normalized(in.advantage);
        if (!stale) in.proximal_log_prob.reset();
        if (masked) in.acted = acts;
        for (auto* leaf : {&in.log_prob, &in.entropy, &in.value}) leaf->set_requires_grad(true);
        const auto expected = ppo_loss(in, options);
        expected.loss.backward();

        auto d = at::empty({3, count});
        const auto metrics = ppo_loss_with_gradient(
            {.rows = count,
             .log_prob = in.log_prob.data_ptr<float>(),
             .entropy = in.entropy.data_ptr<float>(),
             .value = in.value.data_ptr<float>(),
             .behaviour_log_prob = in.behaviour_log_prob.data_ptr<float>(),
             .proximal_log_prob = stale ? in.proximal_log_prob.data_ptr<float>() : nullptr,
             .advantage = in.advantage.data_ptr<float>(),
             .returns = in.returns.data_ptr<float>(),
             .old_value = in.old_value.data_ptr<float>(),
             .acted = masked ? acts.data_ptr<std::uint8_t>() : nullptr},
            options, {d[0].data_ptr<float>(), d[1].data_ptr<float>(), d[2].data_ptr<float>()});
        compare(metrics, expected.metrics);
        CHECK(at::allclose(d[0], in.log_prob.grad(), 1e-4, 1e-6));
        CHECK(at::allclose(d[1], in.entropy.grad(), 1e-4, 1e-6));
        CHECK(at::allclose(d[2], in.value.grad(), 1e-4, 1e-6));
      }
    }
  }
}

TEST_CASE("ppo_loss: the gradient agrees with finite differences", "[losses]") {
  auto in = random_rows(9);
  for (auto field : {&ppo_loss_inputs::log_prob, &ppo_loss_inputs::entropy, &ppo_loss_inputs::value,
                     &ppo_loss_inputs::behaviour_log_prob, &ppo_loss_inputs::proximal_log_prob,
                     &ppo_loss_inputs::advantage, &ppo_loss_inputs::returns}) {
    in.*field = (in.*field).to(at::kDouble);
  }
  for (auto* leaf : {&in.log_prob, &in.value}) {
    auto start = leaf->detach().clone();
    *leaf = start.clone().set_requires_grad(true);
    ppo_loss(in).loss.backward();
    const auto gradient = leaf->grad().clone();
    for (int i = 0; i < 9; ++i) {
      const double h = 1e-6;
      auto moved = start.clone();
      moved[i] += h;
      *leaf = moved.clone();
      const double above = ppo_loss(in).metrics.loss;
      moved[i] -= 2 * h;
      *leaf = moved.clone();
      const double below = ppo_loss(in).metrics.loss;
      CHECK(gradient[i].item<double>() == Approx((above - below) / (2 * h)).margin(1e-6));
    }
    *leaf = start;
  }
}

TEST_CASE("ppo_loss: wrong shapes are refused with the name of the input", "[losses]") {
  auto in = four_rows();
  in.returns = at::zeros({3});
  CHECK_THROWS_WITH(ppo_loss(in), Catch::Contains("returns must be [N] = [4], got [3]"));
}
