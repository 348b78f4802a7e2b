#include "actors/torch/torch.hpp"

#include "algorithms/losses/vtrace.hpp"

#include <algorithm>
#include <cmath>

#include "actors/random/action_random.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr std::int64_t T = 12, B = 5;

at::Tensor normals(action_random& random, at::IntArrayRef sizes) {
  auto numbers = at::empty(sizes, at::kFloat);
  random.fill_normal({numbers.data_ptr<float>(), static_cast<std::size_t>(numbers.numel())});
  return numbers;
}

at::Tensor flags(action_random& random, double share) {
  auto set = at::zeros({T, B}, at::kBool);
  for (std::int64_t i = 0; i < T * B; ++i) set.data_ptr<bool>()[i] = random.uniform() < share;
  return set;
}

gae_inputs random_steps(action_random& random) {
  return {.reward = normals(random, {T, B}),
          .value = normals(random, {T, B}),
          .terminated = flags(random, 0.1),
          .truncated = flags(random, 0.1),
          .final_value = normals(random, {T, B}),
          .bootstrap_value = normals(random, {B}),
          .valid = flags(random, 0.9)};
}

double number(const at::Tensor& of, std::int64_t t, std::int64_t b) {
  return of[t][b].item<double>();
}

bool flag(const at::Tensor& of, std::int64_t t, std::int64_t b) { return of[t][b].item<bool>(); }

/// The targets of one step by equation 1, as a sum over the later steps of its episode.
struct by_equation {
  const gae_inputs& in;
  const at::Tensor& ratio;
  const vtrace_options& options;

  bool ends(std::int64_t t, std::int64_t b) const {
    return flag(in.terminated, t, b) || flag(in.truncated, t, b);
  }
  /// True if the step after t belongs to the episode of t.
  bool goes_on(std::int64_t t, std::int64_t b) const {
    return !ends(t, b) && t + 1 < T && flag(in.valid, t + 1, b);
  }
  double next_value(std::int64_t t, std::int64_t b) const {
    if (flag(in.terminated, t, b)) return 0;
    if (flag(in.truncated, t, b)) return number(in.final_value, t, b);
    return t + 1 < T ? number(in.value, t + 1, b) : in.bootstrap_value[b].item<double>();
  }
  double rho(std::int64_t t, std::int64_t b) const {
    return std::min(options.rho_cap, number(ratio, t, b));
  }
  double target(std::int64_t t, std::int64_t b) const {
    double sum = number(in.value, t, b), weight = 1;
    for (auto k = t;; ++k) {
      sum += weight * rho(k, b) *
             (number(in.reward, k, b) + options.gamma * next_value(k, b) - number(in.value, k, b));
      if (!goes_on(k, b)) return sum;
      weight *= options.gamma * options.lambda * std::min(options.c_cap, number(ratio, k, b));
    }
  }
  double advantage(std::int64_t t, std::int64_t b) const {
    const double next = goes_on(t, b) ? target(t + 1, b) : next_value(t, b);
    return rho(t, b) * (number(in.reward, t, b) + options.gamma * next - number(in.value, t, b));
  }
};

}  // namespace

TEST_CASE("vtrace: targets and advantages are those of the equations", "[losses]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    action_random random(seed);
    const auto in = random_steps(random);
    const auto ratio = (0.7 * normals(random, {T, B})).exp();
    const vtrace_options options{.gamma = 0.9,
                                 .lambda = seed % 2 ? 1.0 : 0.8,
                                 .rho_cap = seed % 3 ? 1.0 : 1.5,
                                 .c_cap = seed % 5 ? 1.0 : 0.7};
    const auto found = vtrace(in, ratio, options);
    const by_equation expected{in, ratio, options};
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t b = 0; b < B; ++b) {
        CAPTURE(t, b);
        if (!flag(in.valid, t, b)) {
          CHECK(number(found.advantage, t, b) == 0);
          continue;
        }
        CHECK(number(found.returns, t, b) == Approx(expected.target(t, b)).margin(1e-5));
        CHECK(number(found.advantage, t, b) == Approx(expected.advantage(t, b)).margin(1e-5));
      }
    }
  }
}

TEST_CASE("vtrace: of rows that the present policy made the result is gae's", "[losses]") {
  action_random random(7);
  const auto in = random_steps(random);
  const auto found = vtrace(in, at::ones({T, B}), {.gamma = 0.9});
  const auto expected = gae(in, {.gamma = 0.9, .lambda = 1.0});
  CHECK(at::allclose(found.returns, expected.returns, 1e-5, 1e-5));
  CHECK(at::allclose(found.advantage, expected.advantage, 1e-5, 1e-5));
}

TEST_CASE("vtrace: what the present policy never does has no weight", "[losses]") {
  action_random random(8);
  const auto in = random_steps(random);
  const auto found = vtrace(in, at::zeros({T, B}));
  CHECK(at::equal(found.returns, in.value));
  CHECK(at::equal(found.advantage, at::zeros({T, B})));
}

TEST_CASE("vtrace: a ratio of another shape is refused", "[losses]") {
  action_random random(9);
  CHECK_THROWS_WITH(vtrace(random_steps(random), at::ones({T, B + 1})),
                    Catch::Contains("ratio must be [12, 5]"));
}
