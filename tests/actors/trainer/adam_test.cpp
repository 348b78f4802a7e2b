#include "actors/torch/torch.hpp"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include "actors/trainer/adam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "actors/random/action_random.hpp"
#include "actors/trainer/polyak.hpp"
#include "tests/test.hpp"

using namespace troupe;

static void fill(action_random& random, double scale, std::vector<float>& numbers) {
  for (auto& number : numbers) number = static_cast<float>(scale * random.normal());
}

TEST_CASE("adam: fifty clipped steps equal libtorch's Adam and clip_grad_norm_", "[trainer]") {
  constexpr int count = 1003;  // not a multiple of any vector
  action_random random(1);
  std::vector<float> parameters(count), gradient(count);
  fill(random, 1.0, parameters);
  auto reference = at::tensor(parameters).set_requires_grad(true);
  torch::optim::Adam expected({reference}, torch::optim::AdamOptions(3e-4).eps(1e-5));
  adam optimizer(count);

  for (int step = 0; step < 50; ++step) {
    fill(random, step % 2 ? 0.001 : 1.0, gradient);  // norms of 0.03 and 32: free and clipped
    reference.mutable_grad() = at::tensor(gradient);
    const double norm = torch::nn::utils::clip_grad_norm_(reference, 0.5);
    expected.step();
    CHECK(optimizer.step(parameters, gradient, 3e-4) == Approx(norm).epsilon(1e-5));
  }
  const auto difference = (at::tensor(parameters) - reference.detach()).abs().max();
  CHECK(difference.item<double>() < 1e-6);
}

TEST_CASE("adam: the first step is the learning rate against the gradient's sign", "[trainer]") {
  // m / (1 - b1) = g and sqrt(v / (1 - b2)) = |g|, so p -= lr g / (|g| + eps)
  adam optimizer(2, {.eps = 1e-8, .max_grad_norm = 0.0});
  std::vector<float> parameters = {1.0f, 1.0f};
  const std::vector<float> gradient = {3.0f, -4.0f};
  CHECK(optimizer.step(parameters, gradient, 0.1) == Approx(5.0));
  CHECK(parameters[0] == Approx(0.9));
  CHECK(parameters[1] == Approx(1.1));
}

TEST_CASE("adam: weight decay is taken from the parameters, as libtorch's AdamW does") {
  // The first step by hand: p (1 - 0.1 * 0.5) - 0.1 sign(g), whatever the gradient's size.
  adam once(2, {.eps = 1e-8, .max_grad_norm = 0.0, .weight_decay = 0.5});
  std::vector<float> pair = {2.0f, -4.0f};
  once.step(pair, std::vector<float>{3.0f, 4.0f}, 0.1);
  CHECK(pair[0] == Approx(2.0 * 0.95 - 0.1));
  CHECK(pair[1] == Approx(-4.0 * 0.95 - 0.1));

  action_random random(3);
  std::vector<float> parameters(101), gradient(101);
  fill(random, 1.0, parameters);
  auto reference = at::tensor(parameters).set_requires_grad(true);
  torch::optim::AdamW expected(
      {reference}, torch::optim::AdamWOptions(1e-2).betas({0.9, 0.95}).eps(1e-8).weight_decay(0.3));
  adam optimizer(101, {.beta2 = 0.95, .eps = 1e-8, .max_grad_norm = 0.0, .weight_decay = 0.3});
  for (int step = 0; step < 50; ++step) {
    fill(random, 1.0, gradient);
    reference.mutable_grad() = at::tensor(gradient);
    expected.step();
    optimizer.step(parameters, gradient, 1e-2);
  }
  CHECK((at::tensor(parameters) - reference.detach()).abs().max().item<double>() < 1e-6);
}

TEST_CASE("adam: weight decay leaves out what it shall", "[trainer]") {
  action_random random(5);
  std::vector<float> start(101), gradient(101);
  fill(random, 1.0, start);
  fill(random, 1.0, gradient);
  const auto stepped = [&](double decay, std::vector<parameter_range> undecayed) {
    auto parameters = start;
    adam optimizer(101, {.max_grad_norm = 0.0, .weight_decay = decay}, std::move(undecayed));
    optimizer.step(parameters, gradient, 0.1);
    return parameters;
  };
  const auto plain = stepped(0, {}), all = stepped(0.5, {});
  const auto some = stepped(0.5, {{3, 10}, {90, 11}});
  for (std::size_t i = 0; i < 101; ++i) {
    const bool left_out = (i >= 3 && i < 13) || i >= 90;
    CHECK(some[i] == Approx((left_out ? plain : all)[i]).margin(1e-7));
  }
  CHECK(stepped(0, {{3, 10}}) == plain);
  CHECK_THROWS_WITH(adam(10, {}, {{5, 2}, {6, 1}}), Catch::Contains("got 1 from 6 on"));
  CHECK_THROWS_WITH(adam(10, {}, {{5, 6}}), Catch::Contains("below 10, got 6 from 5 on"));
}

TEST_CASE("adam: a gradient that is not finite changes nothing", "[trainer]") {
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -3e38f}) {
    for (double max_grad_norm : {0.0, 0.5}) {
      adam optimizer(20, {.max_grad_norm = max_grad_norm});
      std::vector<float> parameters(20, 1.0f), gradient(20, 0.1f);
      optimizer.step(parameters, gradient, 0.1);
      const auto before = parameters;
      const auto state = optimizer.state();
      gradient[17] = bad;
      const bool only_large = std::isfinite(bad) && max_grad_norm > 0.0;
      const double norm = optimizer.step(parameters, gradient, 0.1);
      CHECK(std::isfinite(norm) == only_large);  // a huge one is clipped where clipping is on
      CHECK((parameters == before) == !only_large);
      CHECK((optimizer.state() == state) == !only_large);
      for (float p : parameters) CHECK(std::isfinite(p));
    }
  }
}

TEST_CASE("adam: a restored state continues bit for bit", "[trainer]") {
  action_random random(2);
  std::vector<float> parameters(50), gradient(50);
  adam optimizer(50), other(50);
  for (int step = 0; step < 5; ++step) {
    fill(random, 1.0, gradient);
    optimizer.step(parameters, gradient, 0.01);
  }
  auto copy = parameters;
  other.set_state(optimizer.state());
  fill(random, 1.0, gradient);
  optimizer.step(parameters, gradient, 0.01);
  other.step(copy, gradient, 0.01);
  CHECK(copy == parameters);
  CHECK(other.state() == optimizer.state());
}

TEST_CASE("adam: sizes that differ are refused", "[trainer]") {
  adam optimizer(3);
  std::vector<float> three(3), four(4);
  CHECK_THROWS_AS(optimizer.step(four, three, 0.1), std::invalid_argument);
  CHECK_THROWS_AS(optimizer.step(three, four, 0.1), std::invalid_argument);
  CHECK_THROWS_AS(optimizer.set_state({.first_moment = four, .second_moment = four}),
                  std::invalid_argument);
}

TEST_CASE("adam: moments that decay below the smallest normal number become zero", "[trainer]") {
  adam optimizer(32);
  std::vector<float> parameters(32, 1.0f), gradient(32, 1e-18f);
  optimizer.step(parameters, gradient, 1e-3);
  std::ranges::fill(gradient, 0.0f);
  for (int step = 0; step < 1000; ++step) optimizer.step(parameters, gradient, 1e-3);
  for (const float m : optimizer.state().first_moment) CHECK(m == 0.0f);
  for (const float v : optimizer.state().second_moment) CHECK(v == 0.0f);
  volatile float tiny = 1e-38f;
  CHECK(tiny * 0.1f > 0.0f);  // the caller's arithmetic is as it was
}

TEST_CASE("polyak_average: moves the target by its share, or copies", "[trainer]") {
  const std::vector<float> source(37, 2.0f);
  std::vector<float> target(37, 1.0f);
  polyak_average(source, 0.25, target);
  for (const float x : target) CHECK(x == 1.25f);
  polyak_average(source, 1.0, target);
  CHECK(target == source);
  std::vector<float> shorter(36);
  CHECK_THROWS_AS(polyak_average(source, 0.5, shorter), std::invalid_argument);
}
