#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace troupe {

joint_q_networks::joint_q_networks(const network_shape& shape, const network_options& options)
    : shape_(shape), rows_(shape) {
  if (shape.agents.empty()) {
    throw std::invalid_argument("joint q (" + to_string(shape) + "): expected several agents");
  }
  auto of_values = options;
  of_values.kind = network_kind::q_values;
  for (const auto& policy : shape.policies) {
    const auto own = shape_of(policy);
    if (own.discrete_actions < 1 || own.action_size() != 1 || own.actor_inputs() < 1) {
      throw std::invalid_argument(
          fmt::format("policy \"{}\": expected agents with observations and one discrete choice, "
                      "got {}",
                      policy.name, to_string(own)));
    }
    of_policy_.push_back({detail::network_stack(own, of_values, own.discrete_actions), count_,
                          own.discrete_actions});
    count_ += of_policy_.back().stack.parameter_count();
  }
  policy_of_agent_.resize(agents());
  place_of_agent_.resize(agents());
  int place = 0;
  for (std::size_t policy = 0; policy < policies(); ++policy) {
    for (const auto agent : rows_.agents_of(policy)) {
      policy_of_agent_[agent] = static_cast<int>(policy);
      place_of_agent_[agent] = place++;
    }
  }
}

std::vector<const detail::network_stack*> joint_q_networks::stacks() const {
  std::vector<const detail::network_stack*> all;
  for (const auto& each : of_policy_) all.push_back(&each.stack);
  return all;
}

void joint_q_networks::initialise(action_random& random, bool orthogonal, float* parameters) const {
  for (const auto& each : of_policy_) {
    each.stack.initialise(random, orthogonal, 1.0, parameters + each.first);
  }
}

namespace {

/// Writes the observations, the choices and what is allowed next of a policy's agents.
void gather_policy(const transition_batch& batch, const joint_q_networks& networks,
                   std::size_t policy, joint_q_rows::of_policy& rows) {
  const auto& shape = networks.shape();
  const auto& members = networks.rows().agents_of(policy);
  const auto width = static_cast<std::size_t>(shape.obs_size);
  const auto count = static_cast<std::size_t>(batch.rows) * members.size();
  const auto inputs = static_cast<std::size_t>(networks[policy].stack.inputs());
  const auto masks = static_cast<std::size_t>(networks.rows().shape_of_policy(policy).mask_size);
  rows.obs.resize(count * inputs);
  rows.next_obs.resize(count * inputs);
  rows.next_allowed.resize(count * masks);
  rows.choice.resize(count);
  networks.rows().gather_inputs(policy, batch.obs, rows.obs);
  networks.rows().gather_inputs(policy, batch.next_obs, rows.next_obs);
  auto allowed = rows.next_allowed.begin();
  auto choice = rows.choice.begin();
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    for (const auto agent : members) {
      const auto& view = shape.agents[agent];
      const float* mask =
          batch.next_obs.data() + row * width + static_cast<std::size_t>(view.mask_begin);
      allowed = std::copy_n(mask, masks, allowed);
      *choice++ =
          batch.choice[row * networks.agents() + static_cast<std::size_t>(view.integers_begin)];
    }
  }
}

/// Writes which agents act, and whose next values count.
void gather_flags(const transition_batch& batch, const network_shape& shape,
                  const std::vector<std::uint8_t>& trained, joint_q_rows& rows) {
  const auto count = shape.agents.size();
  const auto width = static_cast<std::size_t>(shape.obs_size);
  rows.acts.resize(batch.agent_terminated.size());
  rows.goes_on.resize(batch.agent_terminated.size());
  for (std::size_t at = 0; at < rows.acts.size(); ++at) {
    const auto& view = shape.agents[at % count];
    const auto acts_in = [&](const std::vector<float>& obs) {
      return view.active < 0 ||
             obs[at / count * width + static_cast<std::size_t>(view.active)] != 0;
    };
    const bool acts = trained[static_cast<std::size_t>(view.policy)] != 0 && acts_in(batch.obs);
    const bool goes_on = batch.agent_terminated[at] == 0 && acts_in(batch.next_obs);
    rows.acts[at] = acts ? 1.0f : 0.0f;
    rows.goes_on[at] = goes_on ? 1.0f : 0.0f;
  }
}

}  // namespace

void gather_rows(const transition_batch& batch, const joint_q_networks& networks,
                 const std::vector<std::uint8_t>& trained, joint_q_rows& rows) {
  rows.policies.resize(networks.policies());
  for (std::size_t i = 0; i < networks.policies(); ++i) {
    if (trained[i]) gather_policy(batch, networks, i, rows.policies[i]);
  }
  gather_flags(batch, networks.shape(), trained, rows);
  rows.zeros.assign(rows.acts.size(), 0.0f);
  rows.share.assign(rows.acts.size(), 0.0f);
  rows.acting = 0;
  const auto agents = networks.agents();
  for (std::size_t policy = 0; policy < networks.policies(); ++policy) {
    const auto for_each_acting = [&](const auto& work) {
      for (const auto agent : networks.rows().agents_of(policy)) {
        for (auto at = agent; at < rows.acts.size(); at += agents) {
          if (rows.acts[at] != 0) work(at);
        }
      }
    };
    std::int64_t count = 0;
    for_each_acting([&](std::size_t) { ++count; });
    for_each_acting([&](std::size_t at) {
      const float weight = batch.weight.empty() ? 1.0f : batch.weight[at / agents];
      rows.share[at] = weight / static_cast<float>(count);
    });
    rows.acting += count;
  }
}

}  // namespace troupe
