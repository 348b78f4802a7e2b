// PPO's loss on both engines: rows worked by hand, and against its equations, written out in double
// precision for one row at a time.

#include "actors/torch/torch.hpp"

#include "algorithms/losses/ppo_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using floats = std::vector<float>;

floats logs(floats numbers) {
  for (auto& x : numbers) x = std::log(x);
  return numbers;
}

struct loss_rows {
  floats log_prob, entropy, value, behaviour, proximal, advantage, returns, old_value;
  std::optional<std::vector<std::int64_t>> acted = {};

  std::size_t count() const { return log_prob.size(); }
};

// Ratios 1.5, 0.5, 1.1 and 1.5 with advantages 1, 1, 2 and -1.
loss_rows four_rows() {
  const auto behaviour = logs({0.4f, 0.4f, 0.4f, 0.4f});
  return {.log_prob = logs({0.6f, 0.2f, 0.44f, 0.6f}),
          .entropy = {0.5f, 0.6f, 0.7f, 0.8f},
          .value = {1.0f, 2.0f, 3.0f, 4.0f},
          .behaviour = behaviour,
          .proximal = behaviour,
          .advantage = {1.0f, 1.0f, 2.0f, -1.0f},
          .returns = {1.5f, 2.0f, 2.0f, 5.0f},
          .old_value = {1.0f, 1.5f, 3.5f, 4.0f}};
}

loss_rows random_rows(std::size_t count, bool stale) {
  action_random random(3);
  loss_rows in;
  for (auto* column : {&in.log_prob, &in.entropy, &in.value, &in.behaviour, &in.proximal,
                       &in.advantage, &in.returns, &in.old_value}) {
    column->resize(count);
    random.fill_normal(*column);
  }
  for (std::size_t i = 0; i < count; ++i) {
    in.behaviour[i] -= 2;
    in.proximal[i] = in.behaviour[i] + (stale ? 0.8f * in.proximal[i] : 0.0f);
    in.log_prob[i] = in.proximal[i] + 0.3f * in.log_prob[i];
    in.advantage[i] = 3 * in.advantage[i] + 1;
  }
  return in;
}

struct loss_and_gradient {
  ppo_loss_metrics metrics;
  double loss = 0;
  floats log_prob, entropy, value;  // the derivatives
};

loss_and_gradient loss_by(graph& g, const loss_rows& of, const ppo_loss_options& options) {
  floats block = of.log_prob, gradient(3 * of.count(), 7.0f);
  for (const auto* column : {&of.entropy, &of.value}) {
    block.insert(block.end(), column->begin(), column->end());
  }
  g.clear();
  const int rows = static_cast<int>(of.count());
  const auto trained = [&](int column) {
    return g.parameter({block, gradient}, column * of.count(), rows, 1);
  };
  const auto behaviour = g.constant(of.behaviour);
  const bool is_fresh = of.proximal == of.behaviour;
  const auto result = ppo_loss({.log_prob = trained(0),
                                .entropy = trained(1),
                                .value = trained(2),
                                .behaviour_log_prob = behaviour,
                                .proximal_log_prob = is_fresh ? behaviour : g.constant(of.proximal),
                                .advantage = g.constant(of.advantage),
                                .returns = g.constant(of.returns),
                                .old_value = g.constant(of.old_value),
                                .acted = of.acted},
                               options);
  loss_and_gradient found{.metrics = result.metrics, .loss = g.number(result.loss)};
  g.backward(result.loss);
  const auto part = [&](std::ptrdiff_t i) {
    return floats(gradient.begin() + i * rows, gradient.begin() + (i + 1) * rows);
  };
  found.log_prob = part(0);
  found.entropy = part(1);
  found.value = part(2);
  return found;
}

/// Calls f with the loss by each engine.
template <class F>
void on_both(const loss_rows& of, const ppo_loss_options& options, const F& f) {
  kernel_graph kernels;
  torch_graph exact(detail::device_link("cpu"), at::kDouble);
  for (graph* g : {static_cast<graph*>(&kernels), static_cast<graph*>(&exact)}) {
    CAPTURE(g == &kernels);
    f(loss_by(*g, of, options));
  }
}

void check(const floats& a, const floats& expected) {
  REQUIRE(a.size() == expected.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-6));
  }
}

/// Schulman et al. 2017, equations 7 and 9, and Hilton et al. 2021, equation 3, for each row.
ppo_loss_metrics by_equations(const std::vector<double>& trained, const loss_rows& of,
                              const ppo_loss_options& options) {
  const auto rows = of.count();
  ppo_loss_metrics sums{.importance_weight = 0};
  double acting = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double log_prob = trained[i], entropy = trained[rows + i], value = trained[2 * rows + i];
    const auto error_of = [&](double v) {
      const double distance = std::abs(v - of.returns[i]);
      if (!options.huber_delta || distance <= *options.huber_delta) return distance * distance;
      return *options.huber_delta * (2 * distance - *options.huber_delta);
    };
    double error = error_of(value);
    if (options.clip_range_vf) {
      const double old = of.old_value[i], range = *options.clip_range_vf;
      const double clipped = error_of(std::min(std::max(value, old - range), old + range));
      error = options.clip_vf_loss == value_clipping::larger ? std::max(error, clipped) : clipped;
    }
    sums.value_loss += error / double(rows);
    const auto number = static_cast<std::int64_t>(i);
    if (of.acted && std::ranges::find(*of.acted, number) == of.acted->end()) continue;
    ++acting;
    const double weight =
        std::min(std::exp(double(of.proximal[i]) - of.behaviour[i]), options.importance_cap);
    const double r = std::exp(log_prob - of.proximal[i]), advantage = of.advantage[i];
    const double low = 1 - options.clip_range, high = 1 + options.clip_range;
    const double clipped = r < low ? low : r > high ? high : r;
    sums.policy_gradient_loss -= weight * std::min(r * advantage, clipped * advantage);
    sums.entropy_loss -= entropy;
    sums.approx_kl += r - 1 - std::log(r);
    sums.clip_fraction += std::abs(r - 1) > options.clip_range;
    sums.importance_weight += weight;
  }
  for (auto mean : {&ppo_loss_metrics::policy_gradient_loss, &ppo_loss_metrics::entropy_loss,
                    &ppo_loss_metrics::approx_kl, &ppo_loss_metrics::clip_fraction,
                    &ppo_loss_metrics::importance_weight}) {
    sums.*mean /= acting;
  }
  sums.loss = sums.policy_gradient_loss + options.ent_coef * sums.entropy_loss +
              options.vf_coef * sums.value_loss;
  return sums;
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
  on_both(four_rows(), {.ent_coef = 0.1}, [](const loss_and_gradient& out) {
    CHECK(out.metrics.policy_gradient_loss == Approx(-0.6));
    CHECK(out.metrics.value_loss == Approx(0.5625));
    CHECK(out.metrics.entropy_loss == Approx(-0.65));
    CHECK(out.metrics.approx_kl == Approx(0.0967267).epsilon(1e-4));
    CHECK(out.metrics.clip_fraction == Approx(0.75));
    CHECK(out.metrics.importance_weight == Approx(1.0));
    CHECK(out.metrics.loss == Approx(-0.6 - 0.065 + 0.28125));
    CHECK(out.loss == out.metrics.loss);
  });
}

TEST_CASE("ppo_loss: the loss and its derivatives are those of the equations", "[losses]") {
  constexpr std::size_t count = 41;
  std::vector<std::int64_t> acting;
  for (std::int64_t i = 0; i < 41; ++i) {
    if (i % 3 > 0) acting.push_back(i);
  }
  for (int with = 0; with < 32; ++with) {
    const bool stale = with & 1, larger = with & 4, huber = with & 8, clips = with & 16;
    auto in = random_rows(count, stale);
    if (with & 2) in.acted = acting;
    ppo_loss_options options{.ent_coef = 0.03, .vf_coef = 0.7};
    if (larger) options.clip_vf_loss = value_clipping::larger;
    if (huber) options.huber_delta = 0.6;
    if (clips) options.clip_range_vf = 0.4;
    std::vector<double> trained;
    for (const auto* column : {&in.log_prob, &in.entropy, &in.value}) {
      trained.insert(trained.end(), column->begin(), column->end());
    }
    const auto expected = by_equations(trained, in, options);
    floats slope;
    for (auto& x : trained) {
      const double kept = x, step = 1e-6;
      x = kept + step;
      const double above = by_equations(trained, in, options).loss;
      x = kept - step;
      slope.push_back(
          static_cast<float>((above - by_equations(trained, in, options).loss) / (2 * step)));
      x = kept;
    }
    CAPTURE(stale, in.acted.has_value(), larger, huber, clips);
    on_both(in, options, [&](const loss_and_gradient& out) {
      compare(out.metrics, expected);
      auto all = out.log_prob;
      all.insert(all.end(), out.entropy.begin(), out.entropy.end());
      all.insert(all.end(), out.value.begin(), out.value.end());
      check(all, slope);
    });
  }
}

TEST_CASE("ppo_loss: value clipping holds the prediction near the old one", "[losses]") {
  // predictions 1, 1.5 + .2, 3.5 - .2, 4: squared errors .25, .09, 1.69, 1; mean .7575
  on_both(four_rows(), {.clip_range_vf = 0.2},
          [](const loss_and_gradient& out) { CHECK(out.metrics.value_loss == Approx(0.7575)); });
}

TEST_CASE("ppo_loss: the larger one of the losses of the value and of the clipped value",
          "[losses]") {
  // Squared errors of the values .25, 0, 1, 1, and of the clipped ones .25, .09, 1.69, 1.
  const ppo_loss_options larger{.clip_range_vf = 0.2, .clip_vf_loss = value_clipping::larger};
  on_both(four_rows(), larger, [](const loss_and_gradient& out) {
    CHECK(out.metrics.value_loss == Approx((0.25 + 0.09 + 1.69 + 1) / 4));
  });
  auto in = four_rows();
  in.old_value = {1.0f, 1.5f, 4.0f, 4.0f};
  in.value = {1.0f, 2.0f, 1.0f, 4.0f};  // row 2: error 1, that of the clipped value 1.8
  on_both(in, larger, [](const loss_and_gradient& out) {
    CHECK(out.metrics.value_loss == Approx((0.25 + 0.09 + 3.24 + 1) / 4));
  });
  in.value = {1.0f, 2.0f, 7.0f, 4.0f};  // row 2: error 5, that of the clipped value 2.2
  on_both(in, larger, [](const loss_and_gradient& out) {
    CHECK(out.metrics.value_loss == Approx((0.25 + 0.09 + 25 + 1) / 4));
    check(out.value, {-0.125f, 0.0f, 1.25f, -0.25f});
  });
}

TEST_CASE("ppo_loss: beyond huber_delta a value's loss grows linearly", "[losses]") {
  // errors .5, 0, 1, 1 in their size
  on_both(four_rows(), {.huber_delta = 0.8}, [](const loss_and_gradient& out) {
    CHECK(out.metrics.value_loss == Approx((0.25 + 0 + 2 * 0.8 * (2 - 0.8)) / 4));
    check(out.value, {-0.125f, 0.0f, 0.2f, -0.2f});
  });
  on_both(four_rows(), {.huber_delta = 10},
          [](const loss_and_gradient& out) { CHECK(out.metrics.value_loss == Approx(0.5625)); });
}

TEST_CASE("ppo_loss: stale rows weigh proximal / behaviour, at most the cap", "[losses]") {
  auto in = four_rows();
  // proximal .4 throughout as before; behaviours give weights 2 (of 4), 1, .5 and 2
  in.behaviour = logs({0.1f, 0.4f, 0.8f, 0.2f});
  // weighted surrogates 2.4, .5, 1.1, -3; mean .25
  on_both(in, {}, [](const loss_and_gradient& out) {
    CHECK(out.metrics.policy_gradient_loss == Approx(-0.25));
    CHECK(out.metrics.importance_weight == Approx(5.5 / 4));
  });
  on_both(in, {.importance_cap = 10.0}, [](const loss_and_gradient& out) {
    CHECK(out.metrics.importance_weight == Approx(7.5 / 4));
  });
}

TEST_CASE("ppo_loss: fresh rows weigh 1, at most the cap", "[losses]") {
  // The surrogates of four_rows are 1.2, .5, 2.2 and -1.5; their mean is .6.
  for (const double cap : {0.5, 1.0, 2.0}) {
    on_both(four_rows(), {.importance_cap = cap}, [cap](const loss_and_gradient& out) {
      const double weight = std::min(cap, 1.0);
      CHECK(out.metrics.policy_gradient_loss == Approx(-0.6 * weight));
      CHECK(out.metrics.importance_weight == Approx(weight));
      const auto w = static_cast<float>(weight);
      check(out.log_prob, {0.0f, -0.5f * w / 4, -2.2f * w / 4, 1.5f * w / 4});
    });
  }
}

TEST_CASE("ppo_loss: clipped rows have no gradient, the others -A r / N", "[losses]") {
  on_both(four_rows(), {}, [](const loss_and_gradient& out) {
    check(out.log_prob, {0.0f, -0.5f / 4, -2.2f / 4, 1.5f / 4});
  });
}

TEST_CASE("ppo_loss: rows without an action have a value loss and nothing else", "[losses]") {
  auto in = four_rows();
  in.acted = {0, 2};
  in.log_prob[1] = std::numeric_limits<float>::quiet_NaN();
  on_both(in, {.ent_coef = 0.1}, [](const loss_and_gradient& out) {
    // Of the rows 0 and 2: min(r A, clip(r) A) is 1.2 and 2.2, the entropy .5 and .7.
    CHECK(out.metrics.policy_gradient_loss == Approx(-1.7));
    CHECK(out.metrics.entropy_loss == Approx(-0.6));
    CHECK(out.metrics.clip_fraction == Approx(0.5));
    CHECK(out.metrics.value_loss == Approx(0.5625));
    check(out.log_prob, {0.0f, 0.0f, -1.1f, 0.0f});
    check(out.entropy, {-0.05f, 0.0f, -0.05f, 0.0f});
    CHECK(out.value[3] != 0);
  });
  in.acted = std::vector<std::int64_t>{};
  on_both(in, {}, [](const loss_and_gradient& out) {
    CHECK(out.metrics.policy_gradient_loss == 0);
    CHECK(out.loss == Approx(0.5 * 0.5625));
    check(out.log_prob, {0.0f, 0.0f, 0.0f, 0.0f});
  });
}

TEST_CASE("ppo_loss: a ratio that overflows makes an infinite loss, which a learner skips",
          "[losses]") {
  auto in = four_rows();
  in.log_prob[3] = 200.0f;  // its advantage is negative, so nothing clips it
  kernel_graph kernels;
  torch_graph single(detail::device_link("cpu"));
  for (graph* g : {static_cast<graph*>(&kernels), static_cast<graph*>(&single)}) {
    CHECK(std::isinf(loss_by(*g, in, {}).loss));
  }
}

TEST_CASE("ppo_loss: sizes that disagree are refused", "[losses]") {
  auto in = four_rows();
  in.returns.pop_back();
  kernel_graph g;
  CHECK_THROWS_WITH(loss_by(g, in, {}), Catch::Contains("a matrix [4, 1] with one of [3, 1]"));
}

TEST_CASE("advantages: they are normalised by the unbiased deviation, one alone is not",
          "[losses]") {
  // mean .75, deviations .25 .25 1.25 -1.75, std = sqrt(4.75 / 3)
  const auto normal = detail::normalized(at::tensor({1.0f, 1.0f, 2.0f, -1.0f}));
  const double deviation = std::sqrt(4.75 / 3);
  for (const auto& [row, expected] : {std::pair{0, 0.25}, {2, 1.25}, {3, -1.75}}) {
    CHECK(normal[row].item<double>() == Approx(expected / deviation).epsilon(1e-5));
  }
  CHECK(detail::normalized(at::tensor({3.0f})).item<float>() == 3.0f);
}

TEST_CASE("scale_of: equals the tensor form", "[losses]") {
  const auto rows = random_rows(41, false).advantage;
  const auto advantage = at::tensor(rows);
  const auto [mean, scale] = detail::scale_of(rows);
  CHECK(at::allclose(scale * (advantage - mean), detail::normalized(advantage), 1e-4, 1e-6));
  const auto one = detail::scale_of(std::span(rows).first(1));
  CHECK(one.mean == 0.0f);
  CHECK(one.scale == 1.0f);
}

}  // namespace troupe
