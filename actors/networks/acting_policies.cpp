#include "actors/torch/torch.hpp"

#include "actors/networks/acting_policies.hpp"

#include <stdexcept>

#include "actors/networks/allowed_choices.hpp"
#include "actors/networks/named_tensors.hpp"

namespace troupe {

acting_policies::acting_policies(const network_shape& shape, const network_options& options,
                                 const space& actions, std::uint64_t seed,
                                 const scripted_policy_maker& script)
    : agents_(shape, actions), choosers_(shape) {
  const auto& of_agents = actions.get_if<spaces::tuple>()->parts;
  integers_ = static_cast<std::size_t>(shape.choice_count());
  floats_ = static_cast<std::size_t>(shape.continuous_size);
  width_ = static_cast<std::size_t>(shape.obs_size);
  for (std::size_t i = 0; i < agents_.policies(); ++i) {
    const auto& own = agents_.shape_of_policy(i);
    networks_.push_back(
        make_acting_network(own, options, of_agents[agents_.agents_of(i).front()], seed + i));
    counts_.push_back(layout_of(own, options).count);
    scripts_.emplace_back();
    const auto& name = shape.policies[i].script;
    if (name.empty()) continue;
    if (!script) {
      throw std::invalid_argument("policy \"" + shape.policies[i].name +
                                  "\" is scripted, which is not possible here");
    }
    scripts_.back() = script({name, of_agents[agents_.agents_of(i).front()]});
  }
}

void acting_policies::load_parameters(const at::Tensor& parameters) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    networks_[i]->load_parameters(parameters.narrow(0, first, counts_[i]));
    first += counts_[i];
  }
}

/// Writes the actions of a policy's agents to choices_ and values_.
void acting_policies::act_policy(std::size_t policy, std::span<const float> joint,
                                 action_random& random, bool deterministic) {
  const auto& own = agents_.shape_of_policy(policy);
  const auto count = joint.size() / width_ * agents_.agents_of(policy).size();
  rows_.resize(count * static_cast<std::size_t>(own.obs_size));
  choices_.resize(count * static_cast<std::size_t>(own.choice_count()));
  values_.resize(count * static_cast<std::size_t>(own.continuous_size));
  agents_.gather(policy, joint, rows_);
  if (scripts_[policy]) {
    agents_.act(policy, *scripts_[policy], rows_, random, choices_, values_);
  } else {
    networks_[policy]->act(rows_.data(), static_cast<int>(count), random, deterministic,
                           {choices_.data(), values_.data()});
  }
}

void acting_policies::act(const float* obs, int rows, action_random& random, bool deterministic,
                          action_rows_out actions) {
  const auto environments = static_cast<std::size_t>(rows);
  const std::span joint(obs, environments * width_);
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    act_policy(i, joint, random, deterministic);
    agents_.scatter(i, choices_, values_, {actions.choice, environments * integers_},
                    {actions.value, environments * floats_});
  }
}

/// Replaces some of choices_ by random ones, and those of agents that do not act by 0.
void acting_policies::explore_policy(std::size_t policy, std::span<const float> joint,
                                     action_random& random, double share) {
  const auto& own = agents_.shape_of_policy(policy);
  const auto width = static_cast<std::size_t>(own.obs_size);
  acts_.resize(choices_.size());
  agents_.gather_active(policy, joint, acts_);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!acts_[i]) {
      choices_[i] = 0;
    } else if (share > 0.0 && random.uniform() < share) {
      const float* mask = rows_.data() + i * width + static_cast<std::size_t>(own.actor_inputs());
      choices_[i] =
          detail::random_allowed(own.mask_size > 0 ? mask : nullptr, own.discrete_actions, random);
    }
  }
}

void acting_policies::choose(const float* obs, int rows, action_random& random,
                             const random_choices& explore, std::int64_t* choices) {
  const auto environments = static_cast<std::size_t>(rows);
  const std::span joint(obs, environments * width_);
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    act_policy(i, joint, random, true);
    const bool explores = !scripts_[i] && (explore.policies.empty() || explore.policies[i] != 0);
    explore_policy(i, joint, random, explores ? explore.share : 0.0);
    choosers_.scatter(i, choices_, {}, {choices, environments * integers_}, {});
  }
}

}  // namespace troupe
