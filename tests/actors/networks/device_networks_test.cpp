// Networks on the device of test_device(), beside the same ones on the CPU.
//
//   TROUPE_TEST_DEVICE=cuda test_device

#include "actors/torch/torch.hpp"

#include "actors/networks/acting_network.hpp"
#include "actors/networks/actor_critic.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/actors/networks/test_device.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

const network_shape cartpole{.obs_size = 4, .discrete_actions = 2};
const network_shape hopper{.obs_size = 11, .continuous_size = 3};
const network_shape pixels{.obs_size = 2 * 12 * 12, .discrete_actions = 3, .image = {2, 12, 12}};

network_options options_on(const std::string& device, const network_shape& shape) {
  network_options options{.hidden = {32, 32}, .backend = gradient_backend::libtorch};
  options.device = device;
  options.cnn = {.channels = {4}, .kernels = {4}, .strides = {2}, .features = 16};
  if (!shape.image.empty()) options.body = network_body::cnn;
  return options;
}

at::Tensor observations(const network_shape& shape, std::int64_t rows) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{5});
  if (shape.image.empty()) return at::randn({rows, shape.obs_size}, generator);
  return at::randint(256, {rows, shape.obs_size}, generator, at::kFloat);
}

bool near(const at::Tensor& a, const at::Tensor& b) { return at::allclose(a, b, 1e-4, 1e-5); }

void check_same_network(const network_shape& shape) {
  actor_critic host(shape, options_on("cpu", shape), 1);
  actor_critic there(shape, options_on(test_device(), shape), 2);
  there.load_parameters(host.parameters());
  const auto obs = observations(shape, 150);

  action_random random(1);
  const auto acted = host.act(obs, random, true);
  const auto acted_there = there.act(obs, random, true);
  CHECK(near(acted_there.value, acted.value));
  CHECK(near(acted_there.log_prob, acted.log_prob));
  CHECK(near(there.values(obs), host.values(obs)));

  for (auto* model : {&host, &there}) {
    const auto g = make_graph(*model);
    const auto now =
        evaluate(*g, *model, trained_parameters(*model), in_memory(obs), rows_of(acted.action));
    const auto log_prob = g->values(now.log_prob);
    CHECK(near(at::tensor(at::ArrayRef<float>(log_prob.data(), log_prob.size())), acted.log_prob));
    g->backward(sum(now.log_prob) + mean(square(now.value)) + mean(now.entropy));
  }
  const auto size = host.gradient().norm().item<double>();
  CHECK(size > 0);
  CHECK((there.gradient() - host.gradient()).norm().item<double>() < 1e-4 * size);
}

TEST_CASE("device: an actor and critic compute there what they compute on the CPU", "[policy]") {
  for (const auto& shape : {cartpole, hopper, pixels}) check_same_network(shape);
}

TEST_CASE("device: a copy that is kept there is renewed with the weights", "[policy]") {
  for (const auto& shape : {cartpole, pixels}) {
    actor_critic host(shape, options_on("cpu", shape), 1);
    actor_critic there(shape, options_on(test_device(), shape), 2);
    there.keep_device_copy();
    const auto obs = observations(shape, 3);
    for (const double factor : {1.0, 1.0, 0.5, -2.0}) {
      const auto weights = host.parameters() * factor;
      host.load_parameters(weights);
      there.load_parameters(weights);
      CHECK(near(there.values(obs), host.values(obs)));
      CHECK(near(there.values(obs), host.values(obs)));
    }
  }
}

TEST_CASE("device: a network of action values takes the same actions there", "[policy]") {
  for (const auto& shape : {cartpole, pixels}) {
    const auto with = [&](const std::string& device) {
      auto options = options_on(device, shape);
      options.kind = network_kind::q_values;
      return options;
    };
    single_network host(shape, with("cpu")), there(shape, with(test_device()));
    const auto obs = observations(shape, 40);
    for (const std::uint64_t seed : {1, 2}) {
      const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
      const auto weights = 0.1 * at::randn({host.parameter_count()}, generator);
      std::vector<std::int64_t> taken(40), taken_there(40);
      action_random random(1);
      host.load_parameters(weights);
      there.load_parameters(weights);
      host.act(obs.data_ptr<float>(), 40, random, true, {.choice = taken.data()});
      there.act(obs.data_ptr<float>(), 40, random, true, {.choice = taken_there.data()});
      CHECK(taken == taken_there);
    }
  }
}

}  // namespace
}  // namespace troupe
