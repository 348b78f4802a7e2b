// Measures what a device computes, beside the CPU. tools/gpu/check runs it; each command prints one
// line of JSON for each thing that it has found out.
//
//   device_check card DEVICE              what libtorch sees, and how fast copies and products are
//   device_check parity DEVICE            loss, gradients, outputs and weights of the same learners
//   device_check repeat DEVICE            the same updates twice: are the weights the same bits?
//   device_check speed DEVICE WIDTH...    updates a second of learners with two such layers
//   device_check images DEVICE            the same of a learner with convolutions
//   device_check act DEVICE WIDTH...      microseconds of a policy's forward pass
//   device_check network DEVICE WIDTH     makes one learner, or prints why it is refused
//   device_check fill DEVICE MIB          takes all but so much of the memory, until stdin ends
//
// Each measurement takes about DEVICE_CHECK_SECONDS (1). The host has one thread for libtorch, as
// in a training, or with DEVICE_CHECK_THREADS=all one for each core.

#include "actors/torch/torch.hpp"

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/device_memory.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "tests/algorithms/batch_tensors.hpp"

namespace troupe {
namespace {

using json = nlohmann::ordered_json;

void print(const json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// The mean time of a call, measured for about `budget` seconds after two calls that don't count, or
// after one that takes longer than that.
double seconds_of(const std::function<void()>& call, double budget) {
  const double before = seconds();
  call();
  if (seconds() - before < budget) call();
  const double start = seconds();
  int calls = 0;
  do {
    call();
    ++calls;
  } while (seconds() - start < budget);
  return (seconds() - start) / calls;
}

// A GPU works on after a call has returned. What comes back to the host has been waited for.
double wait_for(const at::Tensor& there) { return there.flatten()[0].item<double>(); }

// ---- learners and their batches -----------------------------------------------------------------

const std::vector<int> image{3, 40, 40};
constexpr int image_size = 3 * 40 * 40;

struct problem {
  std::string name;
  network_shape shape;
  network_options network;
  bool double_q = false;  // of DQN, with a dueling network
};

network_options mlp(std::vector<int> hidden, activation kind) {
  return {.hidden = std::move(hidden), .hidden_activation = kind};
}

network_options cnn() {
  auto options = mlp({64}, activation::relu);
  options.body = network_body::cnn;
  options.cnn = {.channels = {16, 32}, .kernels = {8, 4}, .strides = {4, 2}, .features = 128};
  return options;
}

network_options on(network_options options, const std::string& device) {
  options.device = device;
  options.backend = gradient_backend::libtorch;
  return options;
}

void fill_obs(std::vector<float>& obs, const network_shape& shape, action_random& random) {
  if (!shape.image.empty()) {
    for (auto& x : obs) x = static_cast<float>(random.below(256));
    return;
  }
  random.fill_normal(obs);
  if (shape.mask_size == 0) return;
  // Each row forbids one of its options.
  const auto width = static_cast<std::size_t>(shape.obs_size);
  for (std::size_t row = 0; row < obs.size(); row += width) {
    float* mask = obs.data() + row + shape.actor_inputs();
    std::fill_n(mask, shape.mask_size, 1.0f);
    mask[random.below(shape.mask_size)] = 0.0f;
  }
}

at::Tensor random_obs(std::vector<std::int64_t> sizes, const network_shape& shape,
                      action_random& random) {
  const auto count = c10::multiply_integers(sizes);
  std::vector<float> obs(static_cast<std::size_t>(count));
  fill_obs(obs, shape, random);
  return detail::tensor_of(obs, sizes, at::kFloat).clone();
}

transition_batch transitions(const network_shape& shape, int rows) {
  action_random random(7);
  transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs}) fill_obs(*column, shape, random);
  random.fill_normal(batch.reward);
  for (auto& a : batch.action) a = static_cast<float>(2.0 * random.uniform() - 1.0);
  for (auto& c : batch.choice) c = static_cast<std::int64_t>(random.below(shape.discrete_actions));
  for (auto& t : batch.terminated) t = random.below(8) == 0 ? 1.0f : 0.0f;
  std::ranges::fill(batch.discount, 0.99f);
  return batch;
}

// T steps of B environments in which a model on the CPU has acted.
rollout_batch rollouts(const network_shape& shape, const network_options& network, int T, int B) {
  actor_critic model(shape, network, 3);
  action_random random(7);
  rollout_batch batch;
  batch.obs = random_obs({T, B, shape.obs_size}, shape, random);
  const auto acted = model.act(batch.obs.flatten(0, 1), random);
  std::vector<std::int64_t> sizes{T, B};
  for (int i = 1; i < acted.action.dim(); ++i) sizes.push_back(acted.action.size(i));
  batch.action = acted.action.view(sizes);
  batch.log_prob = acted.log_prob.view({T, B});
  batch.value = acted.value.view({T, B});
  batch.reward = random_obs({T, B}, {}, random);
  batch.terminated = random_obs({T, B}, {}, random) > 1.5;
  batch.truncated = at::zeros({T, B}, at::kBool);
  batch.final_index = batch.truncated.nonzero();
  batch.final_obs = at::zeros({0, shape.obs_size});
  batch.final_value = at::zeros({T, B});
  batch.bootstrap_obs = random_obs({B, shape.obs_size}, shape, random);
  batch.bootstrap_value = model.values(batch.bootstrap_obs);
  return batch;
}

// What an update has worked out. Each is a vector of doubles on the host.
struct findings {
  at::Tensor outputs;   // of the first weights
  at::Tensor loss;      // of each update
  at::Tensor gradient;  // of the first update
  at::Tensor weights;   // after all updates
};

at::Tensor doubles(std::span<const float> numbers) {
  return detail::tensor_of_block(numbers).to(at::kDouble);
}
at::Tensor doubles(const std::vector<double>& numbers) { return at::tensor(numbers, at::kDouble); }

findings run_ppo(const problem& of, const network_options& network, int updates) {
  const auto batch = rollouts(of.shape, on(network, "cpu"), 32, 8);
  ppo_options options;
  options.network = network;
  options.n_epochs = 1;
  options.batch_size = 256;
  ppo_learner learner(of.shape, options, 1);
  auto& model = learner.model();
  action_random random(1);
  const auto acted = model.act(batch.obs.flatten(0, 1), random, true);
  findings found{.outputs = at::cat({acted.value, acted.log_prob}).to(at::kDouble)};
  std::vector<double> losses;
  for (int i = 0; i < updates; ++i) {
    losses.push_back(learner.update(batch)["train/loss"]);
    if (i == 0) found.gradient = model.gradient().to(at::kDouble).clone();
  }
  found.loss = doubles(losses);
  found.weights = model.parameters().to(at::kDouble);
  return found;
}

findings run_dqn(const problem& of, const network_options& network, int updates) {
  const auto batch = transitions(of.shape, 64);
  dqn_options options;
  options.network = network;
  options.backend = network.backend;
  options.double_q = options.dueling = of.double_q;
  dqn_learner learner(of.shape, options, 1);
  const auto& policy = std::as_const(learner).policy();
  const auto obs = detail::tensor_of(batch.obs, {batch.rows, of.shape.obs_size}, at::kFloat);
  findings found{.outputs = policy.stack()
                                .forward(detail::tensor_of_block(policy.parameters()), obs)
                                .to(at::kDouble)};
  std::vector<double> losses;
  for (int i = 0; i < updates; ++i) {
    losses.push_back(learner.update(batch)["train/loss"]);
    if (i == 0) found.gradient = doubles(learner.gradient());
  }
  found.loss = doubles(losses);
  found.weights = doubles(policy.parameters());
  return found;
}

template <class Learner, class Options>
findings run_critics(const problem& of, const network_options& network, int updates) {
  const auto batch = transitions(of.shape, 64);
  Options options;
  options.network = network;
  options.backend = network.backend;
  Learner learner(of.shape, options, 1);
  const auto& policy = std::as_const(learner).policy();
  const auto& critics = learner.critics();
  const auto obs = detail::tensor_of(batch.obs, {batch.rows, of.shape.obs_size}, at::kFloat);
  torch_graph g(critics.link());
  const auto values =
      critics.values(g.constant(batch.obs, of.shape.obs_size),
                     g.constant(batch.action, of.shape.continuous_size), {critics.parameters()});
  const auto network_size = static_cast<std::int64_t>(policy.stack().parameter_count());
  findings found{
      .outputs =
          at::cat(
              {policy.stack()
                   .forward(detail::tensor_of_block(policy.parameters()).narrow(0, 0, network_size),
                            obs)
                   .flatten(),
               detail::tensor_of_block(g.values(values))})
              .to(at::kDouble)};
  std::vector<double> losses;
  for (int i = 0; i < updates; ++i) {
    const auto metrics = learner.update(batch);
    losses.push_back(metrics["train/critic_loss"]);
    if (metrics.has("train/actor_loss")) losses.push_back(metrics["train/actor_loss"]);
    if (i == 0) found.gradient = doubles(learner.critic_gradient());
    if (i == 1) {
      found.gradient = at::cat({found.gradient, doubles(learner.actor_gradient())});
    }
  }
  found.loss = doubles(losses);
  found.weights = at::cat({doubles(policy.parameters()), doubles(critics.parameters())});
  return found;
}

using runner = findings (*)(const problem&, const network_options&, int);

struct named_runner {
  runner run;
  problem of;
};

std::vector<named_runner> problems() {
  const network_shape cartpole{.obs_size = 4, .discrete_actions = 2};
  const network_shape pendulum{.obs_size = 3, .continuous_size = 1};
  const network_shape hopper{.obs_size = 11, .continuous_size = 3};
  const network_shape pixels{.obs_size = image_size, .discrete_actions = 3, .image = image};
  const network_shape steered{.obs_size = image_size, .continuous_size = 2, .image = image};
  const network_shape masked{.obs_size = 7, .discrete_actions = 3, .mask_size = 3};
  const auto tanh = mlp({64, 64}, activation::tanh);
  const auto relu = mlp({256, 256}, activation::relu);
  auto noisy = relu;
  noisy.use_sde = true;
  const auto sac = run_critics<sac_learner, sac_options>;
  const auto td3 = run_critics<td3_learner, td3_options>;
  return {{run_ppo, {"ppo mlp", cartpole, tanh}},
          {run_ppo, {"ppo mlp continuous", hopper, tanh}},
          {run_ppo, {"ppo mlp 256 relu", hopper, relu}},
          {run_ppo, {"ppo mlp masked", masked, tanh}},
          {run_ppo, {"ppo cnn", pixels, cnn()}},
          {run_dqn, {"dqn mlp", cartpole, relu}},
          {run_dqn, {"dqn mlp double dueling", cartpole, relu, true}},
          {run_dqn, {"dqn cnn", pixels, cnn()}},
          {sac, {"sac mlp", pendulum, relu}},
          {sac, {"sac mlp sde", hopper, noisy}},
          {sac, {"sac cnn", steered, cnn()}},
          {td3, {"td3 mlp", hopper, relu}},
          {td3, {"td3 cnn", steered, cnn()}}};
}

double distance(const at::Tensor& a, const at::Tensor& reference) {
  const double size = reference.norm().item<double>();
  const double apart = (a - reference).norm().item<double>();
  return apart == 0.0 ? 0.0 : apart / size;
}

// Single precision's own error is 1e-6 or so; of ten updates by Adam it grows, because a gradient
// near 0 may have either sign.
constexpr double bound = 1e-4, bound_of_weights = 1e-2;

bool compare(const std::string& device, int updates) {
  bool all = true;
  // The CPU's own comparison is with the fused kernels, where there are some.
  const auto on_host = [&](const network_options& network) {
    auto options = on(network, "cpu");
    if (device == "cpu") options.backend = gradient_backend::automatic;
    return options;
  };
  for (const auto& [run, of] : problems()) {
    json line{{"problem", of.name}};
    try {
      const auto host = run(of, on_host(of.network), updates);
      const auto there = run(of, on(of.network, device), updates);
      const double outputs = distance(there.outputs, host.outputs);
      const double first_loss = distance(there.loss.narrow(0, 0, 1), host.loss.narrow(0, 0, 1));
      const double gradient = distance(there.gradient, host.gradient);
      const double weights = distance(there.weights, host.weights);
      const bool good =
          outputs < bound && first_loss < bound && gradient < bound && weights < bound_of_weights;
      line["outputs"] = outputs;
      line["first_loss"] = first_loss;
      line["losses"] = distance(there.loss, host.loss);
      line["gradient"] = gradient;
      line["weights"] = weights;
      line["good"] = good;
    } catch (const std::exception& e) {
      line["error"] = e.what();
      line["good"] = false;
    }
    all = all && line["good"].get<bool>();
    print(line);
  }
  return all;
}

bool repeat(const std::string& device, int updates) {
  bool all = true;
  for (const auto& [run, of] : problems()) {
    json line{{"problem", of.name}};
    try {
      const auto once = run(of, on(of.network, device), updates);
      const auto again = run(of, on(of.network, device), updates);
      line["good"] = at::equal(once.weights, again.weights);
    } catch (const std::exception& e) {
      line["error"] = e.what();
      line["good"] = false;
    }
    all = all && line["good"].get<bool>();
    print(line);
  }
  return all;
}

// ---- speed --------------------------------------------------------------------------------------

constexpr int wide_batch = 256;

network_options wide(int width, const std::string& device) {
  auto options = mlp({width, width}, activation::relu);
  options.ortho_init = false;  // an orthogonal matrix of this size takes a minute
  options.device = device;
  return options;
}

const network_shape wide_discrete{.obs_size = 64, .discrete_actions = 8};
const network_shape wide_continuous{.obs_size = 64, .continuous_size = 8};

double updates_per_second(const std::function<void()>& update, double budget) {
  return 1.0 / seconds_of(update, budget);
}

void measure_speed(const std::string& device, const std::vector<int>& widths, double budget) {
  for (const int width : widths) {
    json line{{"width", width}, {"device", device}, {"batch", wide_batch}};
    const auto network = wide(width, device);
    try {
      {
        ppo_options options;
        options.network = network;
        options.n_epochs = 1;
        options.batch_size = wide_batch;
        ppo_learner learner(wide_discrete, options, 1);
        const auto batch = rollouts(wide_discrete, wide(64, "cpu"), wide_batch, 1);
        line["ppo"] = updates_per_second([&] { learner.update(batch); }, budget);
        line["ppo_parameters"] = learner.parameters().numel();
      }
      {
        dqn_options options;
        options.network = network;
        dqn_learner learner(wide_discrete, options, 1);
        const auto batch = transitions(wide_discrete, wide_batch);
        line["dqn"] = updates_per_second([&] { learner.update(batch); }, budget);
      }
      {
        sac_options options;
        options.network = network;
        sac_learner learner(wide_continuous, options, 1);
        const auto batch = transitions(wide_continuous, wide_batch);
        line["sac"] = updates_per_second([&] { learner.update(batch); }, budget);
      }
    } catch (const std::exception& e) {
      line["error"] = e.what();
    }
    print(line);
  }
}

void measure_images(const std::string& device, double budget) {
  auto options = mlp({}, activation::relu);
  options.body = network_body::cnn;
  options.device = device;
  const network_shape atari{.obs_size = 4 * 84 * 84, .discrete_actions = 6, .image = {4, 84, 84}};
  json line{{"images", "4x84x84"}, {"device", device}, {"batch", 64}};
  try {
    dqn_options with;
    with.network = options;
    dqn_learner learner(atari, with, 1);
    const auto batch = transitions(atari, 64);
    line["dqn"] = updates_per_second([&] { learner.update(batch); }, budget);
  } catch (const std::exception& e) {
    line["error"] = e.what();
  }
  print(line);
}

void measure_acting(const std::string& device, const std::vector<int>& widths, double budget) {
  for (const int width : widths) {
    for (const int rows : {1, 64, 1024}) {
      json line{{"width", width}, {"rows", rows}, {"device", device}};
      try {
        actor_critic model(wide_discrete, wide(width, device), 1);
        action_random random(1);
        const auto obs = random_obs({rows, wide_discrete.obs_size}, wide_discrete, random);
        line["copying_weights_us"] = 1e6 * seconds_of([&] { model.act(obs, random); }, budget);
        model.keep_device_copy();
        line["act_us"] = 1e6 * seconds_of([&] { model.act(obs, random); }, budget);
      } catch (const std::exception& e) {
        line["error"] = e.what();
      }
      print(line);
    }
  }
}

// ---- the card -----------------------------------------------------------------------------------

void describe_card(const std::string& device, double budget) {
  print({{"libtorch", TORCH_VERSION},
         {"has_cuda", at::hasCUDA()},
         {"devices", static_cast<int>(torch::cuda::device_count())},
         {"cudnn", torch::cuda::cudnn_is_available()},
         {"threads", at::get_num_threads()}});
  const auto memory_line = [&](const char* when) {
    const auto memory = detail::memory_of_device(0);
    if (!memory) return print({{"memory", nullptr}, {"when", when}});
    print({{"free_mib", memory->free >> 20}, {"total_mib", memory->total >> 20}, {"when", when}});
  };
  memory_line("before the first use");
  const double start = seconds();
  const detail::device_link link(device);
  const auto small = link.to_device(at::ones({8, 8}));
  wait_for(link.to_host(at::mm(small, small)));
  print({{"first_product_seconds", seconds() - start}});
  memory_line("after the first product");
  print({{"tf32_convolutions", at::globalContext().allowTF32CuDNN()},
         {"tf32_products", at::globalContext().allowTF32CuBLAS()},
         {"deterministic_cudnn", at::globalContext().deterministicCuDNN()}});

  const at::NoGradGuard no_grad;
  const bool is_short = budget < 0.1;  // for the test of `check`
  const std::int64_t size = is_short ? 256 : 4096;
  const auto there = link.to_device(at::rand({size, size}));
  const double product = seconds_of([&] { wait_for(at::mm(there, there)); }, budget);
  print({{"product_teraflops", 2.0 * std::pow(static_cast<double>(size), 3) / product / 1e12}});
  print({{"small_product_us", 1e6 * seconds_of([&] { wait_for(at::mm(small, small)); }, budget)}});
  const std::int64_t count = is_short ? 1 << 18 : 64 << 18;  // 1 or 64 MiB
  const auto block = link.host_zeros(count);
  const auto pageable = at::zeros({count});
  const auto copied = link.to_device(block);
  const double gigabytes = static_cast<double>(count) * 4e-9;
  const auto rate = [&](const std::function<void()>& call) {
    return gigabytes / seconds_of(call, budget);
  };
  print({{"to_device_gigabytes_per_second", rate([&] { wait_for(link.to_device(block)); })},
         {"to_device_from_ordinary_memory", rate([&] { wait_for(link.to_device(pageable)); })},
         {"to_host", rate([&] { wait_for(link.to_host(copied)); })}});
  adam optimizer(static_cast<std::size_t>(count), {});
  std::vector<float> weights(static_cast<std::size_t>(count)), gradient(weights.size(), 1e-3f);
  print({{"adam_on_the_host_gigabytes_of_weights_per_second",
          rate([&] { optimizer.step(weights, gradient, 1e-3); })}});
}

bool make_network(const std::string& device, int width) {
  try {
    dqn_options options;
    options.network = wide(width, device);
    dqn_learner learner(wide_discrete, options, 1);
    learner.update(transitions(wide_discrete, wide_batch));
    print({{"made", true}});
    return true;
  } catch (const std::exception& e) {
    print({{"made", false}, {"why", e.what()}});
    return false;
  }
}

// Plain allocations, in blocks that get smaller.
void fill(const std::string& device, std::size_t leave) {
  const detail::device_link link(device);
  std::vector<at::Tensor> held;
  const auto free = [] {
    const auto memory = detail::memory_of_device(0);
    if (!memory) throw std::runtime_error("the memory of the device is not known");
    return memory->free;
  };
  for (std::size_t block = std::size_t{4} << 30; block >= (std::size_t{2} << 20); block /= 2) {
    while (free() > leave + block) {
      held.push_back(at::empty({static_cast<std::int64_t>(block)},
                               at::TensorOptions(at::kByte).device(at::Device(device))));
    }
  }
  print({{"left_mib", free() >> 20}});
  std::string line;
  while (std::getline(std::cin, line)) continue;
}

int run_command(const std::vector<std::string>& words) {
  const auto& command = words[0];
  const auto& device = words[1];
  std::vector<int> numbers;
  for (std::size_t i = 2; i < words.size(); ++i) numbers.push_back(std::stoi(words[i]));
  const char* asked = std::getenv("DEVICE_CHECK_SECONDS");
  const double budget = asked ? std::stod(asked) : 1.0;
  const char* threads = std::getenv("DEVICE_CHECK_THREADS");
  if (!threads || std::string(threads) != "all") use_one_torch_thread();
  const int updates = budget < 0.1 ? 3 : 10;
  if (command == "card") return describe_card(device, budget), 0;
  if (command == "parity") return compare(device, updates) ? 0 : 1;
  if (command == "repeat") return repeat(device, updates) ? 0 : 1;
  if (command == "speed") return measure_speed(device, numbers, budget), 0;
  if (command == "images") return measure_images(device, budget), 0;
  if (command == "act") return measure_acting(device, numbers, budget / 4), 0;
  if (command == "network" && numbers.size() == 1) return make_network(device, numbers[0]) ? 0 : 1;
  if (command == "fill" && numbers.size() == 1) {
    return fill(device, static_cast<std::size_t>(numbers[0]) << 20), 0;
  }
  throw std::invalid_argument("unknown command " + command);
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("device_check: expected a command and a device\n", stderr);
    return 2;
  }
  try {
    return troupe::run_command({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "device_check: %s\n", e.what());
    return 1;
  }
}
