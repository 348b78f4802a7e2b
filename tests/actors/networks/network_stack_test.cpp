#include "actors/torch/torch.hpp"

#include "actors/networks/network_stack.hpp"

#include "actors/networks/acting_network.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/backend_choice.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

const network_shape image{.obs_size = 64, .discrete_actions = 3, .image = {1, 8, 8}};

network_options small_cnn() {
  network_options options{.ortho_init = false, .kind = network_kind::q_values};
  options.cnn = {.channels = {2}, .kernels = {3}, .strides = {2}, .features = 5};
  return options;
}

TEST_CASE("network_stack: images go through convolutions, then one layer", "[policy]") {
  const network_stack net(image, small_cnn(), 3);
  CHECK(net.has_convolutions());
  CHECK(net.inputs() == 64);
  CHECK(net.outputs() == 3);
  // 9*2 + 2, then 2*3*3 numbers into 5, and 5 into 3
  CHECK(net.parameter_count() == 20 + (18 * 5 + 5) + (5 * 3 + 3));
  action_random random(1);
  auto block = at::empty({static_cast<std::int64_t>(net.parameter_count())});
  net.initialise(random, false, 1.0, block.data_ptr<float>());
  const auto obs = at::arange(4 * 64, at::kFloat).view({4, 64});
  const auto expected = net.forward(block, obs);
  stack_buffers buffers;
  auto plain = at::empty({4, 3});
  net.infer(block.data_ptr<float>(), obs.data_ptr<float>(), 4, buffers, plain.data_ptr<float>());
  CHECK(at::allclose(plain, expected, 1e-5, 1e-6));
  CHECK(at::allclose(net.forward(block.to(at::kDouble), obs.to(at::kDouble)).to(at::kFloat),
                     expected, 1e-4, 1e-4));
}

TEST_CASE("network_stack: without an image it is the perceptron", "[policy]") {
  const network_shape plain{.obs_size = 4, .discrete_actions = 2};
  const network_options options{.hidden = {6}};
  const network_stack net(plain, options, 2);
  const mlp same(4, {6}, 2, activation::tanh);
  CHECK_FALSE(net.has_convolutions());
  CHECK(net.parameter_count() == same.parameter_count());
}

TEST_CASE("network_stack: actors of SAC and TD3 have hidden layers after convolutions",
          "[policy]") {
  auto shape = image;
  shape.discrete_actions = 0;
  shape.continuous_size = 2;
  auto options = small_cnn();
  options.hidden = {7};
  options.kind = network_kind::squashed;
  const network_stack net(shape, options, 2);
  CHECK(net.parameter_count() == 20 + (18 * 5 + 5) + (5 * 7 + 7) + (7 * 2 + 2));
  options.use_sde = true;
  CHECK_THROWS_WITH(network_stack(shape, options, 2),
                    Catch::Contains("use_sde of true, expected false where observations have "
                                    "images"));
}

TEST_CASE("networks: a device that is not here is refused by every kind of network", "[policy]") {
  if (at::hasCUDA()) return;
  const auto why = Catch::Matches("policy.device cuda: .*; expected cpu");
  auto options = small_cnn();
  options.device = "cuda";
  CHECK_THROWS_WITH(single_network(image, options), why);
  options.kind = network_kind::actor_critic;
  CHECK_THROWS_WITH(actor_critic(image, options, 1), why);
}

TEST_CASE("backend: libtorch has what the kernels can't, and what it does faster", "[policy]") {
  const mlp narrow(4, {64, 64}, 2, activation::tanh), silu(4, {64}, 2, activation::silu);
  const mlp wide(4, {1024, 1024}, 2, activation::relu), flat(4, {2048}, 2, activation::relu);
  const auto by_itself = gradient_backend::automatic;
  CHECK(choose_backend(by_itself, {.net = &narrow}).fused);
  CHECK(choose_backend(by_itself, {.net = &flat}).fused);
  CHECK(choose_backend(gradient_backend::fused, {.net = &wide}).fused);
  const auto asked = choose_backend(gradient_backend::libtorch, {.net = &narrow});
  CHECK_FALSE(asked.fused);
  CHECK(asked.reason.empty());

  const auto reason = [&](const layer_facts& facts) {
    const auto choice = choose_backend(by_itself, facts);
    CHECK_FALSE(choice.fused);
    return choice.reason;
  };
  CHECK(reason({.net = &silu}) == "the activation silu has no fused gradient");
  CHECK(reason({.net = &narrow, .extractor = "convolutions have no fused gradient"}) ==
        "convolutions have no fused gradient");
  CHECK(reason({.net = &narrow, .is_on_host = false}) == "the fused kernels run on the CPU only");
  CHECK(reason({.net = &wide}) == "a layer of 1024x1024 is faster with libtorch");
  CHECK_THROWS_WITH(choose_backend(gradient_backend::fused, {.net = &silu}),
                    "policy.backend fused: the activation silu has no fused gradient; expected "
                    "libtorch, or auto");
}

}  // namespace
}  // namespace troupe::detail
