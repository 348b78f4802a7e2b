#include "algorithms/multi_agent/off_policy/maddpg/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "actors/gradients/joint_encoder.hpp"

namespace troupe {
namespace {

/// Returns where what all critics see lies in an observation row.
agent_layout::range seen_by_critics(const network_shape& shape) {
  if (shape.agents.empty()) {
    throw std::invalid_argument("maddpg (" + to_string(shape) + "): expected several agents");
  }
  const auto& policy = shape.policies[static_cast<std::size_t>(shape.agents[0].policy)];
  if (policy.critic_only < 1) {
    throw std::invalid_argument("maddpg (" + to_string(shape) +
                                "): expected a shape whose critics see all observations or the "
                                "state, got one whose critics see neither");
  }
  return {static_cast<std::size_t>(shape.agents[0].critic_begin),
          static_cast<std::size_t>(policy.critic_only)};
}

/// Returns the shape of a critic: of what it sees, and of all agents' actions.
network_shape shape_of_critic(const network_shape& shape, std::size_t view, std::size_t ids) {
  return {.obs_size = static_cast<int>(view + ids), .continuous_size = shape.continuous_size};
}

/// Returns the critics of a policy. What they see of observations and the state goes through an
/// encoder of their own, where the options have one.
detail::critic_ensemble critics_of(const network_shape& shape, std::size_t policy,
                                   const network_shape& own, const network_options& options,
                                   int count) {
  if (options.encoder.empty()) return {own, options, count};
  return {own, options, count,
          detail::feature_extractor(
              make_joint_encoder(options.encoder, own.obs_size, central_parts(shape, policy, 0)))};
}

}  // namespace

maddpg_networks::maddpg_networks(const network_shape& shape, const network_options& options,
                                 int n_critics)
    : shape_(shape), rows_(shape), seen_(seen_by_critics(shape)) {
  auto of_all = options;
  of_all.kind = network_kind::squashed;
  for (std::size_t policy = 0; policy < shape.policies.size(); ++policy) {
    const auto own = shape_of(shape.policies[policy]);
    if (!own.is_continuous() || own.choice_count() > 0 || own.actor_inputs() < 1) {
      throw std::invalid_argument(
          fmt::format("policy \"{}\": expected agents with observations and continuous actions, "
                      "got {}",
                      shape.policies[policy].name, to_string(own)));
    }
    const auto members = rows_.agents_of(policy).size();
    const auto ids = members > 1 ? members : 0;
    of_policy_.push_back(
        {.actor = {own, of_all, own.continuous_size, activation::tanh},
         .first = count_,
         .actions = static_cast<std::size_t>(own.continuous_size),
         .ids = ids,
         .critics = critics_of(shape, policy, shape_of_critic(shape, seen_.size, ids), of_all,
                               n_critics)});
    count_ += of_policy_.back().actor.parameter_count();
  }
}

std::vector<const detail::network_stack*> maddpg_networks::actors() const {
  std::vector<const detail::network_stack*> all;
  for (const auto& each : of_policy_) all.push_back(&each.actor);
  return all;
}

void maddpg_networks::view(const std::vector<float>& obs, int rows, float* to) const {
  const float* row = obs.data();
  for (int b = 0; b < rows; ++b, row += shape_.obs_size, to += seen_.size) {
    std::copy_n(row + seen_.begin, seen_.size, to);
    if (!sees_observations()) continue;
    for (std::size_t agent = 0; agent < shape_.agents.size(); ++agent) {
      const auto& view = shape_.agents[agent];
      if (!acts(row, agent)) std::fill_n(to + view.obs_begin, view.obs_size, 0.0f);
    }
  }
}

void maddpg_networks::hide_actions(const std::vector<float>& obs, int rows, float* action) const {
  const float* row = obs.data();
  for (int b = 0; b < rows; ++b, row += shape_.obs_size, action += shape_.continuous_size) {
    for (std::size_t agent = 0; agent < shape_.agents.size(); ++agent) {
      if (acts(row, agent) && !is_scripted(agent)) continue;
      const auto& view = shape_.agents[agent];
      const auto& policy = shape_.policies[static_cast<std::size_t>(view.policy)];
      std::fill_n(action + view.floats_begin, policy.continuous_size, 0.0f);
    }
  }
}

}  // namespace troupe
