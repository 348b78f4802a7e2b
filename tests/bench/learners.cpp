// What a gradient step of DQN, TD3, DDPG, SAC, PPO, IQL, VDN and QMIX costs: CPU time, the best of
// several slices.
//
//   sac_update_us, td3_update_us     at the sizes at which RL-tools publishes its times: Pendulum's
//                                    shapes, two layers of 64 ReLU, batches of 100 (TD3's actor
//                                    every second update)
//   ALGO_WIDTH_us                    two layers of 64, 256 and 1024 ReLU, batches of 256, 17
//                                    observations and 6 actions, as in MuJoCo's HalfCheetah, on
//                                    Troupe's kernels
//   ALGO_WIDTH_libtorch_us           the same on libtorch
//                                    PPO's has a tenth of what comes before ten steps: advantages
//   iql_WIDTH_us, vdn_.., qmix_..    the same with three agents of one policy, as in simple_spread:
//                                    18 observations and a number each, 5 actions
//
// bench_learners [--json]

#include "actors/torch/torch.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/environments/agent_layout.hpp"
#include "actors/networks/joint_shape.hpp"
#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"
#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/bench/two_clocks.hpp"

namespace {

double cpu_us() { return 1e6 * troupe::detail::cpu_seconds(); }

troupe::transition_batch some_batch(const troupe::network_shape& shape, int rows) {
  troupe::action_random random(7);
  troupe::transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward}) random.fill_normal(*column);
  const std::uint64_t choices = shape.agents.empty() ? 6 : 5;
  for (auto& choice : batch.choice) choice = static_cast<std::int64_t>(random.below(choices));
  random.fill_normal(batch.agent_reward);
  for (auto& a : batch.action) a = static_cast<float>(2.0 * random.uniform() - 1.0);
  std::ranges::fill(batch.discount, 0.99f);
  return batch;
}

template <class Options>
Options with(const troupe::network_options& network) {
  Options options;
  options.lr = 1e-3;
  options.network = network;
  return options;
}

/// The CPU microseconds of an update, the best of `slices` slices of about a fifth of a second or
/// 200 updates.
template <class Learner, class Batch>
double update_us(Learner& learner, const Batch& batch, int slices = 15) {
  const double before = cpu_us();
  for (int i = 0; i < 2; ++i) learner.update(batch);
  const int updates = std::clamp(static_cast<int>(4e5 / (cpu_us() - before)), 4, 200);
  double best = std::numeric_limits<double>::infinity();
  for (int slice = 0; slice < slices; ++slice) {
    const double start = cpu_us();
    for (int i = 0; i < updates; ++i) learner.update(batch);
    best = std::min(best, (cpu_us() - start) / updates);
  }
  return best;
}

troupe::network_options two_layers(int width) {
  return {
      .hidden = {width, width}, .hidden_activation = troupe::activation::relu, .ortho_init = false};
}

void add_row(nlohmann::ordered_json& line, const std::string& name, int width, double kernels,
             double libtorch) {
  const auto key = name + "_" + std::to_string(width);
  line[key + "_us"] = kernels;
  line[key + "_libtorch_us"] = libtorch;
  std::printf("update of a batch of 256: %-4s %4d wide: kernels %9.1f us, libtorch %9.1f us\n",
              name.c_str(), width, kernels, libtorch);
}

/// Prints and keeps the row of an algorithm at one width, on both engines.
template <class Learner, class Options, class... More>
void add_row(nlohmann::ordered_json& line, const std::string& name, Options options,
             const troupe::network_shape& shape, int width, const More&... more) {
  const auto batch = some_batch(shape, 256);
  options.network = two_layers(width);
  double us[2];
  for (const auto backend : {troupe::gradient_backend::fused, troupe::gradient_backend::libtorch}) {
    options.backend = backend;
    Learner learner(shape, options, 1, more...);
    us[backend == troupe::gradient_backend::libtorch] = update_us(learner, batch, 5);
  }
  add_row(line, name, width, us[0], us[1]);
}

/// PPO's row: steps on the same 256 rows.
void add_ppo_row(nlohmann::ordered_json& line, const troupe::network_shape& shape, int width) {
  troupe::ppo_options options;
  options.batch_size = 256;
  options.n_epochs = 10;
  options.network = two_layers(width);
  double us[2];
  for (const auto backend : {troupe::gradient_backend::fused, troupe::gradient_backend::libtorch}) {
    options.network.backend = backend;
    troupe::ppo_learner learner(shape, options, 1);
    const auto batch = troupe::acted_batch(learner.model(), 32, 8);
    const double update = update_us(learner, batch, 5);
    us[backend == troupe::gradient_backend::libtorch] = update / options.n_epochs;
  }
  add_row(line, "ppo", width, us[0], us[1]);
}

/// Three agents of one policy with the spaces of simple_spread, and a state.
troupe::network_shape three_agents() {
  using namespace troupe;
  const agent_spec agent{"agent", spaces::box(-1, 1, {18}), spaces::discrete(5)};
  env_spec spec{.id = "Three-v0", .agents = {agent, agent, agent}};
  for (int i = 0; i < 3; ++i) spec.agents[static_cast<std::size_t>(i)].name += std::to_string(i);
  spec.state_space = spaces::box(-1, 1, {54});
  return joint_shape(with_joint_spaces(spec), {"policy", "policy", "policy"}, {});
}

/// DDPG is TD3 with one critic, without delay and noise.
troupe::td3_options ddpg_options() {
  troupe::td3_options options;
  options.n_critics = 1;
  options.policy_delay = 1;
  options.target_policy_noise = 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const troupe::network_shape pendulum{.obs_size = 3, .continuous_size = 1};
  const auto network = two_layers(64);
  const auto batch = some_batch(pendulum, 100);
  troupe::sac_learner sac(pendulum, with<troupe::sac_options>(network), 1);
  troupe::td3_learner td3(pendulum, with<troupe::td3_options>(network), 1);
  const double sac_us = update_us(sac, batch);
  const double td3_us = update_us(td3, batch);
  std::printf("update of a batch of 100: SAC %.1f us, TD3 %.1f us\n", sac_us, td3_us);
  nlohmann::ordered_json line{{"sac_update_us", sac_us}, {"td3_update_us", td3_us}};
  const troupe::network_shape cheetah{.obs_size = 17, .continuous_size = 6};
  for (const int width : {64, 256, 1024}) {
    add_row<troupe::dqn_learner>(line, "dqn", troupe::dqn_options(),
                                 {.obs_size = 17, .discrete_actions = 6}, width);
    add_row<troupe::td3_learner>(line, "td3", troupe::td3_options(), cheetah, width);
    add_row<troupe::td3_learner>(line, "ddpg", ddpg_options(), cheetah, width);
    add_row<troupe::sac_learner>(line, "sac", troupe::sac_options(), cheetah, width);
    add_ppo_row(line, cheetah, width);
    const auto team = three_agents();
    const troupe::joint_q_options joint_q;
    add_row<troupe::iql_learner>(line, "iql", joint_q, team, width, troupe::agents_section());
    add_row<troupe::vdn_learner>(line, "vdn", joint_q, team, width);
    add_row<troupe::qmix_learner>(line, "qmix", joint_q, team, width);
  }
  if (argc > 1 && std::strcmp(argv[1], "--json") == 0) std::puts(line.dump().c_str());
  return 0;
}
