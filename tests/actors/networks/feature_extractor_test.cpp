#include "actors/torch/torch.hpp"

#include "actors/networks/feature_extractor.hpp"

#include <algorithm>

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/networks/network_stack.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/actors/networks/random_bytes.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Two images of the same size, so that either could go through the other's convolutions, around
/// and between other numbers.
network_shape robot() {
  return {.obs_size = 1 + 40 + 2 + 40 + 3,
          .discrete_actions = 3,
          .parts = {{"angle", 0, 1},
                    {"arm.camera", 1, 40, {2, 5, 4}},
                    {"goal", 41, 2},
                    {"map", 43, 40, {2, 5, 4}},
                    {"room", 83, 3}}};
}

const cnn_options small_cnn{
    .channels = {3, 4}, .kernels = {2, 2}, .strides = {1, 2}, .features = 6};

at::Tensor random_block(const detail::feature_extractor& extractor, std::uint64_t seed) {
  action_random random(seed);
  auto block = at::empty({extractor.parameter_count()}, at::kFloat);
  extractor.initialise(random, false, block.data_ptr<float>());
  return block;
}

const at::Tensor& tensor_named(const named_tensors& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &named_tensors::value_type::first);
  if (found == all.end()) FAIL("no tensor " << name);
  return found->second;
}

/// What PyTorch's modules of these names compute of an image [N, channels, height, width].
at::Tensor nature_cnn(const named_tensors& all, const std::string& key, const at::Tensor& image) {
  const auto of = [&](const char* part) -> const at::Tensor& {
    return tensor_named(all, "features_extractor.extractors." + key + part);
  };
  auto x = at::relu(at::conv2d(image / 255.0, of(".cnn.0.weight"), of(".cnn.0.bias"), 1));
  x = at::relu(at::conv2d(x, of(".cnn.2.weight"), of(".cnn.2.bias"), 2));
  return at::relu(at::linear(x.flatten(1), of(".linear.0.weight"), of(".linear.0.bias")));
}

TEST_CASE("feature_extractor: each image goes through its own convolutions, the rest passes") {
  const auto shape = robot();
  const detail::feature_extractor extractor(shape, small_cnn);
  CHECK(extractor.inputs() == 86);
  CHECK(extractor.features() == 1 + 6 + 2 + 6 + 3);
  const auto block = random_block(extractor, 1);
  tensor_layout layout;
  layout.add(extractor);
  REQUIRE(layout.count == extractor.parameter_count());
  const auto tensors = tensors_of(layout, block.data_ptr<float>());
  const auto obs = random_bytes(7, 86, 2);
  const auto image = [&](std::int64_t from) {
    return obs.narrow(1, from, 40).reshape({7, 2, 5, 4});
  };
  const auto expected =
      at::cat({obs.narrow(1, 0, 1), nature_cnn(tensors, "arm.camera", image(1)),
               obs.narrow(1, 41, 2), nature_cnn(tensors, "map", image(43)), obs.narrow(1, 83, 3)},
              1);
  CHECK(at::allclose(extractor.forward(extractor.parts(block), obs), expected, 1e-5, 1e-5));
}

TEST_CASE("feature_extractor: a weight's gradient is the slope of the features") {
  const detail::feature_extractor extractor(robot(), small_cnn);
  const auto block = random_block(extractor, 3).to(at::kDouble);
  const auto obs = random_bytes(5, 86, 4).to(at::kDouble);
  const auto weight = random_bytes(5, 18, 9).to(at::kDouble) / 255.0;
  const auto loss_of = [&](const at::Tensor& parameters) {
    return (extractor.forward(extractor.parts(parameters), obs) * weight).sum();
  };
  const auto leaf = block.clone().requires_grad_();
  const auto gradient = torch::autograd::grad({loss_of(leaf)}, {leaf})[0];
  const double step = 1e-6;
  int wrong = 0;
  for (std::int64_t i = 0; i < block.numel(); ++i) {
    auto up = block.clone(), down = block.clone();
    up[i] += step;
    down[i] -= step;
    const double slope = (loss_of(up) - loss_of(down)).item<double>() / (2 * step);
    const double tolerance = 1e-4 * (1 + std::abs(slope));
    wrong += std::abs(gradient[i].item<double>() - slope) > tolerance ? 1 : 0;
  }
  CHECK(wrong <= 2);  // a ReLU's kink can lie within a step
  CHECK((gradient != 0).sum().item<int>() > block.numel() / 4);  // some ReLUs are shut
}

TEST_CASE("feature_extractor: an image [height, width, channels] is that of its planes") {
  const network_shape planes{.obs_size = 60, .discrete_actions = 2, .image = {3, 5, 4}};
  auto pixels = planes;
  pixels.interleaved = 3;
  const detail::feature_extractor of_planes(planes, small_cnn), of_pixels(pixels, small_cnn);
  const auto block = random_block(of_planes, 5);
  const auto image = random_bytes(4, 60, 6).view({4, 3, 5, 4});
  const auto expected = of_planes.forward(of_planes.parts(block), image.flatten(1));
  const auto turned = image.permute({0, 2, 3, 1}).flatten(1);
  CHECK(at::equal(of_pixels.forward(of_pixels.parts(block), turned), expected));

  // Two stacked frames: [frames, height, width, channels].
  const network_shape six{.obs_size = 120, .discrete_actions = 2, .image = {6, 5, 4}};
  auto frames = six;
  frames.interleaved = 3;
  const detail::feature_extractor of_six(six, small_cnn), of_frames(frames, small_cnn);
  const auto wider = random_block(of_six, 7);
  const auto stack = random_bytes(4, 120, 8).view({4, 2, 3, 5, 4});
  CHECK(at::equal(
      of_frames.forward(of_frames.parts(wider), stack.permute({0, 1, 3, 4, 2}).reshape({4, 120})),
      of_six.forward(of_six.parts(wider), stack.flatten(1))));
}

TEST_CASE("feature_extractor: an image that is too small is named") {
  CHECK_THROWS_WITH(detail::feature_extractor(robot(), {}),
                    Catch::Contains("observation \"arm.camera\": policy.cnn: an image of 5x4"));
}

TEST_CASE("actor_critic: over a Dict, acting, evaluating and the layout agree", "[policy]") {
  const network_options options{.cnn = small_cnn, .hidden = {8}, .critic_hidden = {{5}}};
  actor_critic model(robot(), options, 1);
  CHECK_FALSE(model.is_fused());
  const auto obs = random_bytes(300, 86, 2);
  action_random random(3);
  const auto acted = model.act(obs, random);
  const auto ones = at::ones({300}), zeros = at::zeros({300});
  const row_weights weights{ones, zeros, ones};
  const auto now = evaluated_by(*make_graph(model), model, obs, rows_of(acted.action), &weights);
  CHECK(at::allclose(acted.log_prob, now.log_prob, 1e-4, 1e-5));
  CHECK(at::allclose(acted.value, now.value, 1e-4, 1e-5));
  CHECK(at::allclose(model.values(obs), acted.value, 1e-4, 1e-5));

  const auto named = model.named_parameters();
  const auto layout = layout_of(model.shape(), model.options());
  REQUIRE(layout.count == model.parameter_count());
  REQUIRE(layout.tensors.size() == named.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    CHECK(layout.tensors[i].name == named[i].first);
    INFO(named[i].first);
    const auto& part = named[i].second;
    const auto gradient = model.gradient().narrow(0, part.storage_offset(), part.numel());
    CHECK(gradient.abs().sum().item<float>() > 0);
  }
  CHECK(named.back().first == "features_extractor.extractors.map.linear.0.bias");
}

TEST_CASE("network_stack: over a Dict, an extractor is followed by hidden layers", "[policy]") {
  const network_options options{
      .cnn = small_cnn, .hidden = {8}, .ortho_init = false, .kind = network_kind::q_values};
  const detail::network_stack net(robot(), options, 3);
  CHECK(net.top().inputs() == 18);
  CHECK(net.top().layers().size() == 2);
  action_random random(1);
  auto block = at::empty({static_cast<std::int64_t>(net.parameter_count())});
  net.initialise(random, false, 1.0, block.data_ptr<float>());
  const auto obs = random_bytes(4, 86, 2);
  detail::stack_buffers buffers;
  auto plain = at::empty({4, 3});
  net.infer(block.data_ptr<float>(), obs.data_ptr<float>(), 4, buffers, plain.data_ptr<float>());
  CHECK(at::allclose(plain, net.forward(block, obs), 1e-5, 1e-5));
}

}  // namespace
}  // namespace troupe
