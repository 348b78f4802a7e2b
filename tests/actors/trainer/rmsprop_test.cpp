#include "actors/torch/torch.hpp"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include "actors/trainer/rmsprop.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "actors/random/action_random.hpp"
#include "tests/test.hpp"

using namespace troupe;

TEST_CASE("rmsprop: fifty clipped steps equal libtorch's RMSprop and clip_grad_norm_",
          "[trainer]") {
  constexpr int count = 1003;  // not a multiple of any vector
  action_random random(1);
  std::vector<float> parameters(count), gradient(count);
  for (auto& p : parameters) p = static_cast<float>(random.normal());
  auto reference = at::tensor(parameters).set_requires_grad(true);
  torch::optim::RMSprop expected({reference},
                                 torch::optim::RMSpropOptions(7e-4).alpha(0.99).eps(1e-5));
  rmsprop optimizer(count);
  for (int step = 0; step < 50; ++step) {
    for (auto& g : gradient) g = static_cast<float>((step % 2 ? 0.001 : 1.0) * random.normal());
    reference.mutable_grad() = at::tensor(gradient);
    const double norm = torch::nn::utils::clip_grad_norm_(reference, 0.5);
    expected.step();
    CHECK(optimizer.step(parameters, gradient, 7e-4) == Approx(norm).epsilon(1e-5));
  }
  const auto difference = (at::tensor(parameters) - reference.detach()).abs().max();
  CHECK(difference.item<double>() < 5e-6);
}

TEST_CASE("rmsprop: TensorFlow's form begins at a mean square of 1 and has eps inside the root",
          "[trainer]") {
  // v = 0.9 * 1 + 0.1 * 4 = 1.3;  p = 1 - 0.1 * 2 / sqrt(1.3 + 0.5)
  rmsprop optimizer(1, {.alpha = 0.9, .eps = 0.5, .max_grad_norm = 0.0, .tensorflow_like = true});
  std::vector<float> parameters = {1.0f};
  const std::vector<float> gradient = {2.0f};
  CHECK(optimizer.step(parameters, gradient, 0.1) == Approx(2.0));
  CHECK(parameters[0] == Approx(1.0 - 0.2 / std::sqrt(1.8)));
  CHECK(optimizer.state().mean_square.at(0) == Approx(1.3));
}

TEST_CASE("rmsprop: a gradient that is not finite changes nothing", "[trainer]") {
  rmsprop optimizer(3);
  std::vector<float> parameters(3, 1.0f);
  const std::vector<float> gradient = {0.1f, std::numeric_limits<float>::quiet_NaN(), 0.1f};
  CHECK_FALSE(std::isfinite(optimizer.step(parameters, gradient, 0.1)));
  CHECK(parameters == std::vector<float>(3, 1.0f));
  CHECK(optimizer.state() == rmsprop(3).state());
}

TEST_CASE("rmsprop: blocks of another size are refused", "[trainer]") {
  rmsprop optimizer(3);
  std::vector<float> parameters(3), gradient(2);
  CHECK_THROWS_WITH(optimizer.step(parameters, gradient, 0.1),
                    "rmsprop: gradient of size 2, expected 3");
  CHECK_THROWS_AS(optimizer.set_state({}), std::invalid_argument);
}
