// Layer norms, shared layers and encoders: acting, both engines, the layout of files.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "actors/gradients/joint_encoder.hpp"
#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/own_network.hpp"
#include "actors/gradients/perceptron.hpp"
#include "actors/gradients/policy.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/mlp_autograd.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/networks/named_tensors.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

at::Tensor random_rows(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  action_random random(seed);
  auto made = at::empty({rows, columns}, at::kFloat);
  random.fill_normal({made.data_ptr<float>(), static_cast<std::size_t>(made.numel())});
  return made;
}

std::span<float> numbers_of(const at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

/// The options of the cases: each changes the layers in another way.
std::vector<network_options> all_options() {
  register_gated();
  network_options norm{.hidden = {8, 6}, .layer_norm = true};
  network_options other_critic{.hidden = {8}, .critic_hidden = {{5, 7}}};
  network_options shared{.hidden = {6}, .critic_hidden = {{5}}, .shared_hidden = {9, 7}};
  auto shared_norm = shared;
  shared_norm.layer_norm = true;
  network_options encoder{.hidden = {6}, .encoder = "gated"};
  auto encoder_norm = encoder;
  encoder_norm.layer_norm = true;
  encoder_norm.ortho_init = false;
  return {norm, other_critic, shared, shared_norm, encoder, encoder_norm};
}

TEST_CASE(
    "layer norm: the perceptron computes what libtorch's operators do, for every activation") {
  for (const auto kind : {activation::tanh, activation::relu, activation::elu,
                          activation::leaky_relu, activation::silu}) {
    CAPTURE(to_string(kind));
    const detail::mlp net(5, {19, 8}, 3, kind, activation::linear,
                          detail::normalised_layers::hidden);
    CHECK(net.parameter_count() == (5 * 19 + 3 * 19) + (19 * 8 + 3 * 8) + (8 * 3 + 3));
    auto block = random_rows(1, static_cast<std::int64_t>(net.parameter_count()), 3).view({-1});
    const auto x = random_rows(101, 5, 4);
    auto y = at::empty({101, 3});
    detail::mlp_buffers buffers;
    net.infer(block.data_ptr<float>(), x.data_ptr<float>(), 101, buffers, y.data_ptr<float>());
    const auto expected = detail::forward(net, block.to(at::kDouble), x.to(at::kDouble));
    CHECK(at::allclose(y.to(at::kDouble), expected, 1e-4, 1e-4));
  }
}

TEST_CASE("layer norm: it begins with the scale 1 and the shift 0, and draws as without it") {
  const detail::mlp with(4, {6}, 2, activation::tanh, activation::linear,
                         detail::normalised_layers::hidden);
  const detail::mlp without(4, {6}, 2, activation::tanh);
  std::vector<float> a(with.parameter_count()), b(without.parameter_count());
  for (const bool orthogonal : {true, false}) {
    action_random one(7), other(7);
    orthogonal ? with.initialise_orthogonal(one, 1.0, a.data())
               : with.initialise_uniform(one, a.data());
    orthogonal ? without.initialise_orthogonal(other, 1.0, b.data())
               : without.initialise_uniform(other, b.data());
    const auto& first = with.layers()[0];
    CHECK(std::all_of(&a[first.scale], &a[first.scale] + 6, [](float s) { return s == 1; }));
    CHECK(std::all_of(&a[first.shift], &a[first.shift] + 6, [](float s) { return s == 0; }));
    CHECK(std::equal(b.begin(), b.begin() + 30, a.begin()));
    CHECK(std::equal(b.begin() + 30, b.end(), a.begin() + 42));
  }
}

TEST_CASE("layers: a row gives the same numbers alone and in a batch") {
  register_gated();
  for (const auto& options : all_options()) {
    CAPTURE(to_string(network_shape{.obs_size = 5, .discrete_actions = 3}, options));
    actor_critic model({.obs_size = 5, .discrete_actions = 3}, options, 2);
    const auto obs = random_rows(101, 5, 4);
    const auto values = model.values(obs);
    for (const int row : {0, 17, 100}) {
      CHECK(model.values(obs.narrow(0, row, 1)).item<float>() == values[row].item<float>());
    }
  }
}

TEST_CASE("layers: acting and both engines agree, with masks and what only the critic sees") {
  network_shape plain{.obs_size = 5, .discrete_actions = 3};
  network_shape continuous{.obs_size = 5, .continuous_size = 2};
  network_shape joint{.obs_size = 12, .discrete_actions = 3};
  joint.mask_size = 3;
  joint.critic_only = 4;
  for (const auto& shape : {plain, continuous, joint}) {
    for (auto options : all_options()) {
      for (const bool normalizes : {false, true}) {
        options.normalize_obs = normalizes;
        CAPTURE(to_string(shape, options));
        actor_critic model(shape, options, 2);
        if (normalizes) {
          const std::vector<double> mean(static_cast<std::size_t>(shape.obs_size), 0.1),
              variance(static_cast<std::size_t>(shape.obs_size), 0.7);
          model.set_obs_statistics(mean, variance);
        }
        const auto obs = random_rows(40, shape.obs_size, 4);
        if (shape.mask_size > 0) {
          obs.narrow(1, 5, 3).fill_(1.0);
          obs.narrow(1, 6, 1).fill_(normalizes ? -1.0 : 0.0);
        }
        action_random random(3);
        const auto acted = model.act(obs, random);
        const auto actions = rows_of(acted.action, acted.continuous);
        at::Tensor gradient[2];
        for (const bool fused : {true, false}) {
          const auto by = make_graph(fused, model.link());
          const row_weights weights{at::ones({40}), at::ones({40}), at::ones({40})};
          const auto now = evaluated_by(*by, model, obs, actions, &weights);
          CHECK(at::allclose(acted.log_prob, now.log_prob, 1e-4, 1e-4));
          CHECK(at::allclose(acted.value, now.value, 1e-4, 1e-4));
          gradient[fused] = model.gradient().clone();
        }
        const auto scale = gradient[0].abs().max().item<double>();
        CHECK(scale > 0);
        CHECK((gradient[0] - gradient[1]).abs().max().item<double>() < 1e-4 * scale);
      }
    }
  }
}

TEST_CASE("encoder: the gradient is that of finite differences, on both engines") {
  register_gated();
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  const network_options options{.hidden = {5}, .layer_norm = true, .encoder = "gated"};
  const detail::network_stack net(shape, options, 3);
  action_random random(5);
  std::vector<float> block(net.parameter_count());
  random.fill_normal(block);
  const auto obs = random_rows(6, 4, 8), share = random_rows(6, 3, 9);
  const auto loss_of = [&](graph& g, const parameter_block& parameters) {
    g.clear();
    const auto y = forward(net, g.constant(numbers_of(obs), 4), parameters).outputs;
    return mean(row_sum(square(y) * g.constant(numbers_of(share), 3)));
  };
  torch_graph exact(detail::device_link("cpu"), at::kDouble);
  kernel_graph kernels;
  std::vector<float> by_exact(block.size()), by_kernels(block.size());
  exact.backward(loss_of(exact, {block, by_exact}));
  kernels.backward(loss_of(kernels, {block, by_kernels}));
  double largest = 0;
  for (const float d : by_exact) largest = std::max<double>(largest, std::abs(d));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const float kept = block[i], up = kept + 1.0f / 1024, down = kept - 1.0f / 1024;
    const auto at = [&](float value) {
      block[i] = value;
      return exact.number(loss_of(exact, {block}));
    };
    const double difference = (at(up) - at(down)) / (double{up} - down);
    block[i] = kept;
    CHECK(by_exact[i] == Approx(difference).margin(1e-3 * largest));
    CHECK(by_kernels[i] == Approx(by_exact[i]).margin(1e-4 * largest));
  }
}

TEST_CASE("encoder: files have its parameters by name, with PyTorch's shapes") {
  register_gated();
  const auto layout =
      layout_of({.obs_size = 4, .discrete_actions = 3},
                {.hidden = {5}, .encoder = "gated", .kind = network_kind::q_values});
  std::vector<std::string> names;
  for (const auto& place : layout.tensors) names.push_back(place.name);
  CHECK(names == std::vector<std::string>{"q_net.0.weight", "q_net.0.bias", "q_net.1.weight",
                                          "q_net.1.bias", "encoder.value.weight",
                                          "encoder.value.bias", "encoder.norm.weight",
                                          "encoder.norm.bias", "encoder.gate.weight",
                                          "encoder.gate.bias", "encoder.mix"});
  CHECK(layout.tensors[4].sizes == std::vector<std::int64_t>{7, 4});  // [out, in]
  CHECK(layout.tensors[6].sizes == std::vector<std::int64_t>{7});
  CHECK(layout.tensors[10].sizes == std::vector<std::int64_t>{7, 6});  // as it is asked for
  const auto layers = layout_of({.obs_size = 4, .discrete_actions = 3},
                                {.hidden = {5}, .shared_hidden = {8}, .layer_norm = true});
  names.clear();
  for (const auto& place : layers.tensors) names.push_back(place.name);
  CHECK(names == std::vector<std::string>{
                     "actor.0.weight", "actor.0.bias", "actor.0.norm.weight", "actor.0.norm.bias",
                     "actor.1.weight", "actor.1.bias", "critic.0.weight", "critic.0.bias",
                     "critic.0.norm.weight", "critic.0.norm.bias", "critic.1.weight",
                     "critic.1.bias", "shared.0.weight", "shared.0.bias", "shared.0.norm.weight",
                     "shared.0.norm.bias"});
}

TEST_CASE("model file: it keeps layers and encoders, and acts as before") {
  const temporary_folder folder;
  const network_shape shape{.obs_size = 5, .discrete_actions = 3};
  for (const auto& options : all_options()) {
    CAPTURE(to_string(shape, options));
    actor_critic model(shape, options, 2);
    save_model(folder.path / "model", model);
    const auto saved = load_model(folder.path / "model");
    CHECK(saved.options.layer_norm == options.layer_norm);
    CHECK(saved.options.shared_hidden == options.shared_hidden);
    CHECK(saved.options.critic_hidden == options.critic_hidden);
    CHECK(saved.options.encoder == options.encoder);
    actor_critic other(shape, options, 3);
    load_model(folder.path / "model", other);
    const auto obs = random_rows(9, 5, 4);
    CHECK(at::equal(model.values(obs), other.values(obs)));
    action_random one(1), two(1);
    CHECK(at::equal(model.act(obs, one).action, other.act(obs, two).action));
    actor_critic without(shape, {.hidden = options.hidden}, 3);
    CHECK_THROWS_WITH(load_model(folder.path / "model", without), Contains("expected ("));
  }
}

TEST_CASE("model file: an encoder of other shapes than the file's is refused with both") {
  static int width = 3;
  register_encoder("changing", [](network_parameters& p, const variable& x) {
    return p.dense("only", x, width);
  });
  const temporary_folder folder;
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  save_model(folder.path / "model", actor_critic(shape, {.encoder = "changing"}, 2));
  CHECK(load_model(folder.path / "model").options.encoder == "changing");
  width = 6;
  CHECK_THROWS_WITH(
      load_model(folder.path / "model"),
      Contains("its encoder changing is another network than the one that is registered here") &&
          Contains(" is [") && Contains("], expected ["));
}

TEST_CASE("model file: one whose encoder is in a plug-in has no code loaded") {
  const temporary_folder folder;
  const auto copy = (folder.path / "copy.so").string();
  std::filesystem::copy_file(testing::build_path("tests/actors/worlds/plugins/gate.so"), copy);
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  const auto file = folder.path / "model";
  save_model(file, actor_critic(shape, {.encoder = copy + ":gate"}, 2));
  CHECK(load_model(file).options.encoder == copy + ":gate");  // this program has loaded it
  const auto moved = (folder.path / "moved.so").string();
  std::filesystem::rename(copy, moved);
  CHECK_THROWS_WITH(load_model(file),
                    Contains("its encoder " + copy + ":gate is code of a plug-in"));
  CHECK(is_unloaded_plugin(moved + ":gate"));
  load_encoder(moved + ":gate");
  CHECK_FALSE(is_unloaded_plugin(moved + ":gate"));
}

TEST_CASE("encoder: a name that is not registered is refused, and so is one that is taken") {
  register_gated();
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  CHECK_THROWS_WITH(actor_critic(shape, {.encoder = "gatd"}, 1),
                    Contains("policy.encoder \"gatd\": expected the name of a network that this "
                             "program registers, such as ") &&
                        Contains("gated"));
  CHECK_THROWS_WITH(register_encoder("gated", gated),
                    Contains("encoder \"gated\": the name is taken"));
  CHECK_THROWS_WITH(register_encoder("", gated), Contains("expected a function and a name"));
  CHECK_THROWS_WITH(actor_critic(shape, {.encoder = "./nowhere.so:gated"}, 1),
                    Contains("./nowhere.so: expected the path of a plug-in"));
}

/// Registers an encoder and returns the error of making it for 4 numbers; empty if there is none.
static std::string refusal_of_encoder(const std::string& name, encoder_function function) {
  register_encoder(name, std::move(function));
  std::string message;
  try {
    make_encoder(name, 4);
  } catch (const std::invalid_argument& e) {
    message = e.what();
  }
  return message;
}

TEST_CASE("encoder: a function that asks for impossible parameters is refused by name") {
  const auto error = refusal_of_encoder;
  CHECK_THAT(error("twice", [](network_parameters& p,
                               const variable& x) { return p.dense("a", p.dense("a", x, 3), 3); }),
             Contains("encoder \"twice\": expected parameters of different names, got two "
                      "\"a.weight\""));
  CHECK_THAT(
      error("empty", [](network_parameters& p, const variable& x) { return p.dense("a", x, 0); }),
      Contains("the parameter \"a.weight\" is [4, 0], expected a name and sizes of 1"));
  CHECK_THAT(error("summed", [](network_parameters& p,
                                const variable& x) { return mean(p.dense("a", x, 1)); }),
             Contains("encoder \"summed\": expected features [rows, F] of observations [rows, 4], "
                      "got [1, 1] for 2 rows"));
}

TEST_CASE("encoder: a function that asks for other parameters in another call is refused") {
  register_encoder("fickle", [](network_parameters& p, const variable& x) {
    return p.dense(x.rows() < 3 ? "a" : "b", x, 3);
  });
  actor_critic model({.obs_size = 4, .discrete_actions = 3}, {.encoder = "fickle"}, 1);
  CHECK_THROWS_WITH(model.values(random_rows(3, 4, 1)),
                    Contains("encoder \"fickle\"") &&
                        Contains("the next one was a.weight [4, 3], got b.weight [4, 3]"));
}

TEST_CASE("encoder: whatever its function does wrong with a batch, the error names it") {
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  const auto error = [&](const std::string& name, encoder_function function) {
    register_encoder(name, std::move(function));
    actor_critic model(shape, {.encoder = name}, 1);
    CHECK(model.values(random_rows(1, 4, 1)).size(0) == 1);
    std::string of_batch;
    kernel_graph g;
    const auto obs = random_rows(3, 4, 1);
    try {
      action_outputs(g, model, trained_parameters(model).frozen(), numbers_of(obs));
    } catch (const std::invalid_argument& e) {
      of_batch = e.what();
    }
    return of_batch;
  };
  const auto dense = [](network_parameters& p, const variable& x) { return p.dense("a", x, 3); };
  CHECK(error("sums_batches",
              [&](network_parameters& p, const variable& x) {
                const auto y = dense(p, x);
                return x.rows() < 3 ? y : product(x, y);
              })
            .starts_with(
                "encoder \"sums_batches\": expected features [rows, 3] of observations [rows, "
                "4], got an error for 3 rows: graph: a product of matrices [3, 4] and [3, 3]"));
  CHECK(error("throws_at_batches",
              [&](network_parameters& p, const variable& x) {
                if (x.rows() == 3) throw std::runtime_error("no batches");
                return dense(p, x);
              }) ==
        "encoder \"throws_at_batches\": expected features [rows, 3] of observations [rows, 4], "
        "got an error for 3 rows: no batches");
  CHECK(error("halves_batches",
              [&](network_parameters& p, const variable& x) {
                const auto y = dense(p, x);
                return x.rows() < 3 ? y : slice(y, 0, 2);
              }) ==
        "encoder \"halves_batches\": expected features [rows, 3] of observations [rows, 4], got "
        "[3, 2] for 3 rows");
}

TEST_CASE("encoder: one that mixes the rows of a batch is refused, on both engines") {
  const auto refusal = refusal_of_encoder;
  const auto expected = Contains(
      "expected features of each row that depend on that row alone; with two random rows "
      "feature 0 of row 0 is ");
  // The mean of a column is a row for all of its numbers, so the shapes fit.
  const auto centred = [](network_parameters& p, const variable& x) {
    const auto y = p.dense("a", x, 1);
    return y - mean(y);
  };
  const auto message = refusal("centred", centred);
  CHECK_THAT(message,
             expected && Contains("encoder \"centred\": ") && Contains("Troupe's kernels"));
  // Its first values hide it: a scale of 0.
  CHECK_THAT(refusal("centred_later",
                     [&](network_parameters& p, const variable& x) {
                       const auto own = p.dense("b", x, 1);
                       const auto y = p.dense("a", x, 1);
                       const auto scale = p.parameter("scale", 1, 1, initial_values::zeros);
                       return own + mean(y) * scale;
                     }),
             expected);
  CHECK_THAT(refusal("centred_on_libtorch",
                     [&](network_parameters& p, const variable& x) {
                       const auto y = p.dense("a", x, 1);
                       const bool mixes = dynamic_cast<torch_graph*>(&x.owner()) != nullptr;
                       return mixes ? y - mean(y) : y;
                     }),
             expected && Contains("(libtorch)"));
  CHECK_THAT(refusal("alone",
                     [](network_parameters& p, const variable& x) { return p.dense("a", x, 300); }),
             Catch::Matchers::Equals(""));
}

TEST_CASE(
    "encoder: that of a joint row encodes each of its parts, those of one size by one network") {
  register_gated();
  // Two parts of 4 numbers side by side, one of 3, and numbers that are no part.
  const auto joint = make_joint_encoder("gated", 15, {{1, 4}, {5, 4}, {10, 3}});
  const auto four = make_encoder("gated", 4), three = make_encoder("gated", 3);
  CHECK(joint->features() == 1 + 6 + 6 + 1 + 6 + 2);
  CHECK(joint->parameter_count() == four->parameter_count() + three->parameter_count());
  CHECK(joint->parameters().front().name == "4.value.weight");
  CHECK(joint->parameters().back().name == "3.mix");

  action_random random(3);
  std::vector<float> parameters(joint->parameter_count());
  random.fill_normal(parameters);
  const std::span<const float> all(parameters);
  constexpr int rows = 3;
  const auto obs = random_rows(rows, 15, 5);
  const auto pass = joint->make_pass(), pass_of_four = four->make_pass(),
             pass_of_three = three->make_pass();
  const float* features = pass->features_of(all.data(), numbers_of(obs).data(), rows);
  for (int row = 0; row < rows; ++row) {
    const float* x = numbers_of(obs).data() + row * 15;
    const float* y = features + row * joint->features();
    std::vector<float> expected{x[0]};
    const auto add = [&](encoder_pass& by, std::size_t first, const float* part) {
      const float* made = by.features_of(all.data() + first, part, 1);
      expected.insert(expected.end(), made, made + 6);
    };
    add(*pass_of_four, 0, x + 1);
    add(*pass_of_four, 0, x + 5);
    expected.push_back(x[9]);
    add(*pass_of_three, four->parameter_count(), x + 10);
    expected.insert(expected.end(), x + 13, x + 15);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(y[i] == Approx(expected[i]).margin(1e-6));
  }

  CHECK_THROWS_WITH(make_joint_encoder("gated", 7, {{0, 4}, {3, 4}}),
                    Contains("encoder \"gated\": expected parts of a row of 7 numbers, one behind "
                             "the other, got one of 4 from 3 on"));
  CHECK_THROWS_AS(make_joint_encoder("gated", 7, {{4, 4}}), std::invalid_argument);
}

TEST_CASE(
    "encoder: the kernels refuse the gradient of silu, and the automatic choice is libtorch") {
  register_encoder("silu_layer", [](network_parameters& p, const variable& x) {
    return p.dense("a", x, 3, activation::silu);
  });
  const network_shape shape{.obs_size = 4, .discrete_actions = 3};
  CHECK_THROWS_WITH(
      actor_critic(shape, {.encoder = "silu_layer", .backend = gradient_backend::fused}, 1),
      Contains("policy.backend fused: the activation silu of encoder \"silu_layer\" has no fused "
               "gradient"));
  CHECK_FALSE(actor_critic(shape, {.encoder = "silu_layer"}, 1).is_fused());
}

TEST_CASE("layers: what does not go together is refused with the reason") {
  register_gated();
  network_shape image{.obs_size = 64, .discrete_actions = 3, .image = {1, 8, 8}};
  CHECK_THROWS_WITH(actor_critic(image, {.shared_hidden = {8}}, 1),
                    Contains("expected shared_hidden of [] with convolutions"));
  CHECK_THROWS_WITH(actor_critic(image, {.body = network_body::cnn, .encoder = "gated"}, 1),
                    Contains("policy.kind cnn: expected auto or mlp with policy.encoder"));
  CHECK(actor_critic(image, {.encoder = "gated"}, 1).is_fused());  // in place of convolutions
  CHECK_THROWS_WITH(
      detail::network_stack({.obs_size = 4, .discrete_actions = 3},
                            {.shared_hidden = {8}, .kind = network_kind::q_values}, 3),
      Contains("expected shared_hidden of [] where actor and critic are trained apart"));
}

TEST_CASE("encoder: that of a plug-in computes on both engines of the program that loads it") {
  const auto file = testing::build_path("tests/actors/worlds/plugins/gate.so");
  for (const std::string id : {":gate", ":bare"}) {
    actor_critic model({.obs_size = 4, .discrete_actions = 3}, {.encoder = file + id}, 1);
    const auto obs = random_rows(9, 4, 8);
    action_random random(3);
    const auto acted = model.act(obs, random);
    for (const bool fused : {true, false}) {
      const auto by = make_graph(fused, model.link());
      const auto now = evaluated_by(*by, model, obs, rows_of(acted.action), nullptr);
      CHECK(at::allclose(acted.log_prob, now.log_prob, 1e-5, 1e-5));
      CHECK(at::allclose(acted.value, now.value, 1e-5, 1e-5));
    }
  }
}

TEST_CASE("encoder: acting networks of every kind stand on it, with state-dependent noise, too") {
  register_gated();
  const network_shape shape{.obs_size = 4, .continuous_size = 2};
  const auto actions = spaces::box(-1.0f, 1.0f, {2});
  for (const auto kind : {network_kind::squashed_gaussian, network_kind::squashed}) {
    for (const bool noise : {false, true}) {
      if (noise && kind == network_kind::squashed) continue;
      const network_options options{
          .hidden = {5}, .encoder = "gated", .use_sde = noise, .kind = kind};
      single_network net(shape, options);
      const auto block = random_rows(1, net.parameter_count(), 6).view({-1});
      net.load_parameters(block);
      const auto obs = random_rows(7, 4, 8);
      auto acted = at::empty({7, 2});
      action_random random(1);
      net.act(obs.data_ptr<float>(), 7, random, true, {nullptr, acted.data_ptr<float>()});
      const detail::network_stack stack(shape, options, outputs_of(shape, options));
      kernel_graph g;
      const auto y = forward(stack, g.constant(numbers_of(obs), 4),
                             {numbers_of(block).first(stack.parameter_count())});
      const auto means = g.values(slice(y.outputs, 0, 2));
      for (std::size_t i = 0; i < means.size(); ++i) {
        // State-dependent exploration clips means.
        const float seen = noise ? std::clamp(means[i], -2.0f, 2.0f) : means[i];
        CHECK(numbers_of(acted)[i] == Approx(std::tanh(seen)).margin(1e-6));
      }
    }
  }
}

}  // namespace
}  // namespace troupe
