#include "actors/torch/torch.hpp"

#include "actors/networks/conv_trunk.hpp"

#include <cmath>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/networks/actor_critic.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/actors/networks/random_bytes.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

const network_shape small_image{.obs_size = 2 * 5 * 4, .discrete_actions = 3, .image = {2, 5, 4}};

network_options small_cnn() {
  return {.cnn = {.channels = {3, 4}, .kernels = {2, 2}, .strides = {1, 2}, .features = 6}};
}

TEST_CASE("conv_trunk: the default is the Nature network, 3,136 numbers into 512", "[policy]") {
  const detail::conv_trunk nature({4, 84, 84}, {});
  CHECK(nature.inputs() == 28'224);
  CHECK(nature.features() == 512);
  // (8*8*4 + 1)*32 + (4*4*32 + 1)*64 + (3*3*64 + 1)*64 + (3136 + 1)*512
  CHECK(nature.parameter_count() == 1'684'128);
  const auto parts = nature.parts(at::zeros({nature.parameter_count()}));
  REQUIRE(parts.size() == 8);
  CHECK(parts[2].sizes() == at::IntArrayRef({64, 32, 4, 4}));
  CHECK(parts[6].sizes() == at::IntArrayRef({3136, 512}));
}

TEST_CASE("conv_trunk: numbers are divided by the bound of their space", "[policy]") {
  const cnn_options layers{.channels = {1}, .kernels = {2}, .strides = {1}, .features = 1};
  const detail::conv_trunk of_bytes({1, 2, 3}, layers), of_digits({1, 2, 3}, layers, 0, 5);
  const auto block = at::tensor({1.0f, 2.0f, 3.0f, -4.0f, 0.5f, 10.0f, 100.0f, 7.0f});
  const auto digits = at::tensor({5.0f, 0.0f, 1.0f, 0.0f, 0.0f, 5.0f}).view({1, 6});
  CHECK(at::allclose(of_digits.forward(of_digits.parts(block), digits),
                     of_bytes.forward(of_bytes.parts(block), digits * 51)));
}

TEST_CASE("conv_trunk: a convolution and a layer, worked by hand", "[policy]") {
  // An image of 2x3, one convolution of kernel 2, stride 1: two sums of four, then a layer to 1.
  const detail::conv_trunk trunk({1, 2, 3},
                                 {.channels = {1}, .kernels = {2}, .strides = {1}, .features = 1});
  REQUIRE(trunk.parameter_count() == 4 + 1 + 2 + 1);
  const auto block = at::tensor({1.0f, 2.0f, 3.0f, -4.0f, 0.5f, 10.0f, 100.0f, 7.0f});
  const auto obs = at::tensor({255.0f, 0.0f, 51.0f, 0.0f, 0.0f, 255.0f}).view({1, 6});
  // left: 1*1 + 0.5 = 1.5; right: 2*0.2 - 4*1 + 0.5 < 0, so 0. Then 10 * 1.5 + 100 * 0 + 7.
  const auto features = trunk.forward(trunk.parts(block), obs);
  CHECK(features.item<float>() == Approx(22.0f));
}

TEST_CASE("conv_trunk: orthogonal filters have a gain of sqrt(2)", "[policy]") {
  const detail::conv_trunk trunk(
      {2, 9, 9}, {.channels = {8, 40}, .kernels = {3, 2}, .strides = {1, 1}, .features = 5});
  action_random random(3);
  auto block = at::full({trunk.parameter_count()}, 7.0f);
  trunk.initialise(random, true, block.data_ptr<float>());
  const auto parts = trunk.parts(block);
  const auto wide = parts[0].flatten(1);  // [8, 18]: orthogonal rows
  CHECK(at::allclose(wide.mm(wide.t()), 2.0 * at::eye(8), 1e-4, 1e-5));
  const auto tall = parts[2].flatten(1);  // [40, 32]: orthogonal columns
  CHECK(at::allclose(tall.t().mm(tall), 2.0 * at::eye(32), 1e-4, 1e-5));
  CHECK(at::equal(parts[1], at::zeros({8})));
  block.fill_(7.0f);
  trunk.initialise(random, false, block.data_ptr<float>());
  CHECK(block.abs().max().item<double>() <= 1.0);  // Each number is drawn.
  CHECK(parts[0].abs().max().item<double>() <= 1.0 / std::sqrt(18.0));
  CHECK(parts[1].abs().max().item<double>() > 0.0);
}

TEST_CASE("conv_trunk: what can't be convolved is named", "[policy]") {
  CHECK_THROWS_WITH(
      detail::conv_trunk({1, 35, 84}, {}),
      Catch::Contains("an image of 35x84 with 1 channel is too small: convolution 2 of kernel 3 is "
                      "left with 2x"));
  CHECK_THROWS_WITH(detail::conv_trunk({1, 84, 84}, {.strides = {4, 2}}),
                    Catch::Contains("as many channels, kernels and strides, all > 0, got 3, 3 and "
                                    "2"));
  const network_shape plain{.obs_size = 4, .discrete_actions = 2};
  CHECK_THROWS_WITH(actor_critic(plain, {.body = network_body::cnn}, 1),
                    Catch::Contains("policy.kind cnn: expected an environment that shows an image, "
                                    "got obs 4, discrete 2"));
  auto options = small_cnn();
  options.normalize_obs = true;
  CHECK_THROWS_WITH(actor_critic(small_image, options, 1),
                    Catch::Contains("expected normalize_obs of false"));
  options = small_cnn();
  options.backend = gradient_backend::fused;
  CHECK_THROWS_WITH(actor_critic(small_image, options, 1),
                    Catch::Contains("policy.backend fused: convolutions have no fused gradient"));
}

TEST_CASE("actor_critic: an image goes through convolutions, unless they are unwanted",
          "[policy]") {
  actor_critic convolving(small_image, small_cnn(), 1);
  CHECK_FALSE(convolving.is_fused());
  CHECK(to_string(convolving.shape(), convolving.options()) ==
        "image 2x5x4, discrete 3, cnn 3x2/1-4x2/2-6");
  // Convolutions 2*3*4+3 and 3*4*4+4, then 4*2*1 numbers into 6, an actor of 3 and a critic.
  CHECK(convolving.parameter_count() == 27 + 52 + (8 * 6 + 6) + (6 * 3 + 3) + (6 + 1));
  auto flat = small_cnn();
  flat.body = network_body::mlp;
  CHECK(actor_critic(small_image, flat, 1).is_fused());
}

TEST_CASE("actor_critic: with convolutions act, values and libtorch's engine agree", "[policy]") {
  actor_critic network(small_image, small_cnn(), 5);
  const auto obs = random_bytes(300, 40, 1);  // more than one block of rows
  action_random random(2);
  const auto acted = network.act(obs, random);
  const auto evaluation = evaluated(network, obs, acted.action);
  CHECK(at::allclose(acted.log_prob, evaluation.log_prob, 1e-5, 1e-6));
  CHECK(at::allclose(acted.value, evaluation.value, 1e-5, 1e-6));
  CHECK(at::allclose(network.values(obs), acted.value, 1e-6, 1e-7));
  kernel_graph kernels;
  CHECK_THROWS_WITH(evaluated_by(kernels, network, obs, rows_of(acted.action), nullptr),
                    Catch::Contains("convolutions"));
  // Other pictures, other values: the trunk does look.
  CHECK(acted.value.std().item<double>() > 1e-3);
}

TEST_CASE("actor_critic: the gradient through convolutions is the loss's slope", "[policy]") {
  actor_critic network(small_image, small_cnn(), 7);
  const auto obs = random_bytes(8, 40, 3);
  const auto action = at::arange(8, at::kLong).remainder(3);
  const auto g = make_graph(network);
  const auto loss = [&] {
    g->clear();
    const auto e =
        evaluate(*g, network, trained_parameters(network), in_memory(obs), rows_of(action));
    return mean(e.log_prob + 0.3f * e.entropy + square(e.value));
  };
  const auto at_first = loss();
  const double before = number(at_first);
  g->backward(at_first);
  const auto slope = network.gradient().clone();
  REQUIRE(slope.abs().max().item<double>() > 0.0);
  // Down the slope by a small step the loss falls by |slope|^2 times the step.
  const double square = slope.square().sum().item<double>();
  const double step = 1e-3 / square;
  network.parameters().sub_(slope, step);
  CHECK(before - number(loss()) == Approx(1e-3).epsilon(0.05));
  // No part is left out.
  for (const auto& [name, part] : network.named_parameters()) {
    INFO(name);
    CHECK(slope.narrow(0, part.storage_offset(), part.numel()).abs().max().item<double>() > 0.0);
  }
}

}  // namespace
}  // namespace troupe
