// Prints digests of what the parts of training make of the same input, a line each: what a
// learner's weights are after ten recorded batches, and what environments show and reward while
// weights of a seed act in them. golden.py holds those of two commits beside each other.
#include "actors/torch/torch.hpp"

#include <ATen/Parallel.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/language_models/grpo/grpo_learner.hpp"
#include "algorithms/language_models/sft/sft_learner.hpp"
#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/on_policy/a2c/learner.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/learner.hpp"
#include "tests/actors/llm/small_models.hpp"
#include "tests/algorithms/language_models/grpo/small_groups.hpp"
#include "tests/algorithms/off_policy/random_transitions.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"

namespace troupe {
namespace {

constexpr int updates = 10;

void print(const std::string& name, const std::string& digest) {
  std::printf("%s %s\n", name.c_str(), digest.c_str());
}

/// The bytes of numbers of any kind, one after the other.
class digest {
 public:
  template <class Row>
  void add(const Row& row) {
    const auto* first = reinterpret_cast<const char*>(row.data());
    bytes_.insert(bytes_.end(), first, first + row.size() * sizeof(row[0]));
  }
  std::string text() {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    auto numbers = at::empty({static_cast<std::int64_t>(bytes_.size() / 4)}, at::kFloat);
    std::memcpy(numbers.data_ptr<float>(), bytes_.data(), bytes_.size());
    return weights_sha256(numbers);
  }

 private:
  std::vector<char> bytes_;
};

// ---- learners

const network_shape continuous{.obs_size = 5, .continuous_size = 2};
const network_shape discrete{.obs_size = 5, .discrete_actions = 4};

void on_policy(const std::string& name, on_policy_learner learner) {
  actor_critic acts(learner.model().shape(), learner.model().options(), 6);
  double left = 1.0;
  for (int i = 0; i < updates; ++i, left -= 0.1) learner.update(acted_batch(acts, 24, 3, i), left);
  print(name, weights_sha256(learner.model().parameters()));
}

void on_policy(const std::string& name, const network_shape& shape, const ppo_options& options) {
  on_policy(name, ppo_learner(shape, options, 5));
}

ppo_options small_ppo() {
  ppo_options options;
  options.n_epochs = 2;
  options.batch_size = 16;
  options.network.hidden = {24, 20};
  return options;
}

void all_on_policy() {
  on_policy("ppo-learner-discrete", discrete, small_ppo());
  on_policy("ppo-learner-continuous", continuous, small_ppo());
  on_policy("ppo-learner-multi-discrete", {.obs_size = 4, .multi_discrete = {2, 3}}, small_ppo());
  auto options = small_ppo();
  options.network.use_sde = true;
  on_policy("ppo-learner-gsde", continuous, options);
  options = small_ppo();
  options.clip_range_vf = 0.2;
  options.lr_schedule = options.clip_schedule = annealing::linear;
  options.ent_coef = 0.01;
  options.max_grad_norm = 0.1;
  on_policy("ppo-learner-schedules", discrete, options);
  options = small_ppo();
  options.network.backend = gradient_backend::libtorch;
  on_policy("ppo-learner-libtorch", discrete, options);
  options = small_ppo();
  options.network.body = network_body::cnn;
  options.network.cnn = {{4, 6}, {3, 3}, {2, 1}, 12};
  on_policy("ppo-learner-convolutions",
            {.obs_size = 2 * 12 * 12, .discrete_actions = 3, .image = {2, 12, 12}}, options);
  a2c_config a2c;
  a2c.policy.hidden = {24};
  a2c.seed = 5;
  on_policy("a2c-learner", make_learner(continuous, a2c));
  reinforce_config reinforce;
  reinforce.policy.hidden = {24};
  reinforce.seed = 5;
  on_policy("reinforce-learner", make_learner(discrete, reinforce));
}

template <class Learner, class Options>
void off_policy(const std::string& name, const network_shape& shape, Options options) {
  options.lr = 1e-3;
  options.network.hidden = {24, 20};
  Learner learner(shape, options, 5);
  for (int i = 0; i < updates; ++i) learner.update(random_transitions(shape, 32, i));
  digest of;
  of.add(learner.policy().parameters());
  of.add(learner.last().td_errors);
  print(name, of.text());
}

void all_off_policy() {
  off_policy<dqn_learner>("dqn-learner", discrete, dqn_options());
  dqn_options dqn;
  dqn.double_q = dqn.dueling = true;
  off_policy<dqn_learner>("dqn-learner-double-dueling", discrete, dqn);
  off_policy<sac_learner>("sac-learner", continuous, sac_options());
  sac_options sac;
  sac.network.use_sde = true;
  off_policy<sac_learner>("sac-learner-gsde", continuous, sac);
  off_policy<td3_learner>("td3-learner", continuous, td3_options());
  td3_options td3;
  td3.backend = gradient_backend::libtorch;
  off_policy<td3_learner>("td3-learner-libtorch", continuous, td3);
}

void groups_of_answers(const std::string& name, const grpo_options& options) {
  const auto start = small_weights();
  grpo_learner learner({.config = small_model(), .lr = 1e-3}, options,
                       {.parameters = start.clone()}, 5);
  for (int i = 0; i < updates; ++i) learner.update(random_groups(4, 4, start, i));
  print(name, weights_sha256(learner.parameters()));
}

void all_language_models() {
  groups_of_answers("grpo-learner", {});
  groups_of_answers("grpo-learner-kl", {.kl_coef = 0.05});
  const auto config = llm::small_model(llm::model_family::llama);
  const auto start = llm::lively_weights(config);
  const std::vector<sft_example> examples{
      {{1, 2, 3}, {4, 5, 0}}, {{6}, {7, 0}}, {{8, 9}, {10, 11, 12, 13, 0}}, {{1, 2, 3}, {0}}};
  sft_learner whole(config, {.lr = 1e-3}, start.clone());
  const llm::lora_options lora{.targets = {llm::projection::q, llm::projection::down}, .rank = 4};
  sft_learner adapters(config, {.lr = 1e-2}, start.clone(), lora, 3);
  for (int i = 0; i < updates; ++i) whole.update(examples), adapters.update(examples);
  print("sft-learner", weights_sha256(whole.parameters()));
  print("sft-learner-lora", weights_sha256(adapters.parameters()));
}

// ---- episodes

void episodes(const std::string& id) {
  constexpr int rows = 3, steps = 300;
  const auto world = make_vector_environment(id, rows);
  const auto shape = shape_of(world->spec());
  actor_critic acts(shape, {.hidden = {16}}, 5);
  action_random random(6);
  auto obs = world->reset(7).obs;
  digest of;
  of.add(obs);
  for (int i = 0; i < steps; ++i) {
    const auto seen = at::from_blob(obs.data(), {rows, shape.obs_size}, at::kFloat);
    const auto action = acts.act(seen, random).action.contiguous();
    env_actions wanted;
    if (shape.is_continuous()) {
      const auto* first = action.data_ptr<float>();
      wanted.continuous.assign(first, first + action.numel());
    } else {
      const auto* first = action.data_ptr<std::int64_t>();
      wanted.discrete.assign(first, first + action.numel());
    }
    auto after = world->step(std::move(wanted));
    of.add(after.obs);
    of.add(after.reward);
    of.add(after.terminated);
    of.add(after.truncated);
    obs = std::move(after.obs);
  }
  print("episodes-" + id, of.text());
}

void all_episodes() {
  for (const char* id : {"CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0",
                         "Pendulum-v1", "LunarLander-v3", "LunarLanderContinuous-v3",
                         "Blackjack-v1", "TicTacToe-v0", "ConnectFour-v0"})
    episodes(id);
}

}  // namespace
}  // namespace troupe

int main() {
  at::set_num_threads(1);
  troupe::all_on_policy();
  troupe::all_off_policy();
  troupe::all_language_models();
  troupe::all_episodes();
  return 0;
}
