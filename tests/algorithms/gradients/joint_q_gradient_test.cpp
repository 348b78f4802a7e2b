// The gradients of IQL, VDN and QMIX on Troupe's kernels against libtorch's autograd in double
// precision, over random agents, policies, masks, ended agents, batches and settings; see
// gradient_parity_test.cpp.

#include "actors/torch/torch.hpp"

#include <cmath>

#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/mlp_autograd.hpp"
#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"
#include "algorithms/multi_agent/off_policy/rule.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"
#include "tests/algorithms/batch_tensors.hpp"
#include "tests/algorithms/gradients/for_each_case.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// The inputs and allowed choices of a policy's agents in rows of observations.
struct sights {
  at::Tensor inputs;   ///< double [B N, inputs]
  at::Tensor allowed;  ///< bool [B N, choices]
};

sights sights_of(const joint_q_networks& networks, std::size_t policy,
                 const std::vector<float>& obs, int rows) {
  const auto& own = networks.rows().shape_of_policy(policy);
  const auto count = static_cast<std::int64_t>(networks.rows().agents_of(policy).size()) * rows;
  std::vector<float> all(static_cast<std::size_t>(count * own.obs_size));
  networks.rows().gather(policy, obs, all);
  const auto whole = detail::tensor_of(all, {count, own.obs_size}, at::kDouble);
  auto allowed = at::ones({count, own.discrete_actions}, at::kBool);
  if (own.mask_size > 0) {
    allowed = whole.narrow(1, own.actor_inputs(), own.mask_size) > 0;
    allowed = allowed | (allowed.sum(1, true) == 0);
  }
  return {whole.narrow(1, 0, own.actor_inputs()), allowed};
}

/// Sees the hidden units of the policies' networks, and with double Q-learning how near the two
/// best of the next choices are.
void watch_policies(kink_watch& watch, const joint_q_learner& learner, const at::Tensor& online,
                    const transition_batch& batch) {
  const auto& networks = learner.networks();
  for (std::size_t i = 0; i < networks.policies(); ++i) {
    const auto& net = networks[i].stack.top();
    const auto own = online.narrow(0, static_cast<std::int64_t>(networks[i].first),
                                   static_cast<std::int64_t>(net.parameter_count()));
    watch.see(net, own, sights_of(networks, i, batch.obs, batch.rows).inputs);
    if (!learner.options().double_q) continue;
    const auto next = sights_of(networks, i, batch.next_obs, batch.rows);
    const auto values = detail::forward(net, own, next.inputs).masked_fill(~next.allowed, -1e9);
    const auto sorted = std::get<0>(values.sort(1, true));
    watch.see(sorted.select(1, 0) - sorted.select(1, 1));
  }
}

/// Sees where a weight of the mixer changes its sign, and the hidden units of the networks that
/// make the weights.
void watch_mixer(kink_watch& watch, const qmix_learner& learner, const mixer_section& with,
                 const at::Tensor& online, const transition_batch& batch) {
  const auto& shape = learner.networks().shape();
  const auto input = input_of_mixer(shape, with.input);
  auto state =
      detail::tensor_of(batch.obs, {batch.rows, shape.obs_size}, at::kDouble)
          .narrow(1, static_cast<std::int64_t>(input.begin), static_cast<std::int64_t>(input.size));
  if (with.input == mixer_input::none) state = at::ones({batch.rows, 1}, at::kDouble);
  const int size = static_cast<int>(state.size(1));
  const int agents = static_cast<int>(shape.agents.size());
  const detail::mlp nets[] = {{size, with.hyper_hidden, agents * with.embed_dim, activation::relu},
                              {size, {}, with.embed_dim, activation::relu},
                              {size, with.hyper_hidden, with.embed_dim, activation::relu},
                              {size, {with.embed_dim}, 1, activation::relu}};
  auto first = static_cast<std::int64_t>(learner.networks().parameter_count());
  for (int i = 0; i < 4; ++i) {
    const auto count = static_cast<std::int64_t>(nets[i].parameter_count());
    const auto own = online.narrow(0, first, count);
    watch.see(nets[i], own, state);
    if (i == 0 || i == 2) watch.see(detail::forward(nets[i], own, state));
    first += count;
  }
}

template <class Learner, class... More>
Learner learner_of(case_random& random, const network_shape& shape, bool double_q,
                   const More&... more) {
  joint_q_options options;
  options.backend = gradient_backend::fused;
  options.network = random_network(random);
  options.double_q = double_q;
  Learner learner(shape, options, random.next(), more...);
  auto state = parts_of(learner);
  disturb(random, state["parameters"]);
  disturb(random, state["target"]);
  set_parts(learner, state);
  return learner;
}

struct reference {
  double loss, q_mean;
  std::vector<float> gradient;
};

reference reference_of(const joint_q_learner& learner, const transition_batch& batch,
                       at::ScalarType type) {
  const auto state = parts_of(learner);
  torch_graph g(detail::device_link("cpu"), type);
  joint_q_rows rows;
  gather_rows(batch, learner.networks(), learner.trained(), rows);
  reference made{.gradient = std::vector<float>(state["parameters"].size())};
  const auto terms =
      joint_q_loss(g, learner.networks(), learner.mixer(), {state["parameters"], made.gradient},
                   {state["target"]}, batch, rows, learner.options().double_q);
  made.loss = g.number(terms.loss);
  made.q_mean = g.number(terms.q_mean);
  g.backward(terms.loss);
  return made;
}

parity compare(kink_watch& watch, joint_q_learner& learner, const transition_batch& batch) {
  const auto expected = reference_of(learner, batch, at::kDouble);
  const auto gradient = in_double(expected.gradient);
  // The gradient of few rows can be the small rest of large values.
  const auto single = reference_of(learner, batch, at::kFloat);
  watch.see_rounding(relative_distance(single.gradient, gradient));
  // A TD error that is the small rest of large Q values has no more right digits than these.
  constexpr double rounding = 6e-8;
  watch.see_rounding(rounding * std::abs(expected.q_mean) / std::sqrt(expected.loss));
  const auto found = learner.update(batch);
  CHECK(found["train/loss"] == Approx(expected.loss).epsilon(1e-4).margin(1e-6));
  CHECK(found["train/q_mean"] == Approx(expected.q_mean).epsilon(1e-4).margin(1e-5));
  return {relative_distance(learner.gradient(), gradient), watch.too_near()};
}

/// A thousand cases of each algorithm, half of them with double Q-learning.
template <class Case>
void for_each_joint_case(const Case& work) {
  for (const bool double_q : {false, true}) {
    CAPTURE(double_q);
    for_each_case([&](case_random& random) { return work(random, double_q); },
                  std::max(case_count(), 500));
  }
}

parity iql_case(case_random& random, bool double_q) {
  const auto shape = random_agents(random);
  agents_section agents;
  if (random.flip() && shape.policies.size() > 1) agents.frozen = {shape.policies[0].name};
  auto learner = learner_of<iql_learner>(random, shape, double_q, agents);
  const auto batch = random_joint_batch(random, shape, random.between(1, 40));
  kink_watch watch;
  watch_policies(watch, learner, in_double(learner.parameters()), batch);
  return compare(watch, learner, batch);
}

parity vdn_case(case_random& random, bool double_q) {
  const auto shape = random_agents(random);
  auto learner = learner_of<vdn_learner>(random, shape, double_q);
  const auto batch = random_joint_batch(random, shape, random.between(1, 40));
  kink_watch watch;
  watch_policies(watch, learner, in_double(learner.parameters()), batch);
  return compare(watch, learner, batch);
}

parity qmix_case(case_random& random, bool double_q) {
  const auto shape = random_agents(random);
  mixer_section with;
  constexpr mixer_input inputs[] = {mixer_input::state, mixer_input::observations,
                                    mixer_input::none};
  with.input = inputs[random.below(3)];
  with.embed_dim = random.between(1, 40);
  if (random.flip()) with.hyper_hidden = {random.between(1, 40)};
  auto learner = learner_of<qmix_learner>(random, shape, double_q, agents_section(), with);
  const auto batch = random_joint_batch(random, shape, random.between(1, 30));
  kink_watch watch;
  const auto online = in_double(learner.parameters());
  watch_policies(watch, learner, online, batch);
  watch_mixer(watch, learner, with, online, batch);
  return compare(watch, learner, batch);
}

}  // namespace

TEST_CASE("gradients: IQL's on the kernels equals libtorch's", "[gradients]") {
  for_each_joint_case(iql_case);
}
TEST_CASE("gradients: VDN's on the kernels equals libtorch's", "[gradients]") {
  for_each_joint_case(vdn_case);
}
TEST_CASE("gradients: QMIX's on the kernels equals libtorch's", "[gradients]") {
  for_each_joint_case(qmix_case);
}

}  // namespace troupe
