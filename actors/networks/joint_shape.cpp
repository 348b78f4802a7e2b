#include "actors/networks/joint_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/environments/agent_layout.hpp"
#include "actors/networks/shape_of.hpp"

namespace troupe {
namespace {

int to_int(std::size_t n) { return static_cast<int>(n); }

/// Returns the shape of a policy whose agents are like this one.
policy_shape policy_for(const env_spec& spec, std::size_t agent) {
  const auto& of = spec.agents[agent];
  const auto own = shape_of(env_spec{.id = spec.id + ", agent \"" + of.name + '"',
                                     .observation_space = of.observation_space,
                                     .action_space = of.action_space});
  policy_shape made;
  made.obs_size = own.obs_size;
  made.discrete_actions = own.discrete_actions;
  made.continuous_size = own.continuous_size;
  made.multi_discrete = own.multi_discrete;
  made.multi_binary = own.multi_binary;
  return made;
}

void require_same_spaces(const env_spec& spec, std::size_t first, std::size_t other,
                         const std::string& policy) {
  const auto &a = spec.agents[first], &b = spec.agents[other];
  const auto refuse = [&](const char* what, const space& of_a, const space& of_b) {
    throw std::invalid_argument(fmt::format(
        "{}: policy \"{}\": expected agents with equal {} spaces, got {} for \"{}\" and {} for "
        "\"{}\"",
        spec.id, policy, what, to_string(of_a), a.name, to_string(of_b), b.name));
  };
  if (a.observation_space.flat_size() != b.observation_space.flat_size())
    refuse("observation", a.observation_space, b.observation_space);
  if (a.action_space != b.action_space) refuse("action", a.action_space, b.action_space);
}

}  // namespace

network_shape joint_shape(const env_spec& spec, const std::vector<std::string>& policy_of_agent,
                          const joint_shape_options& options) {
  if (spec.agents.empty()) {
    throw std::invalid_argument(spec.id +
                                ": expected an environment with several agents, got one without");
  }
  if (options.critic == central_input::state && !spec.state_space) {
    throw std::invalid_argument(
        spec.id +
        ": expected an environment with a global state for the critic, got one without; "
        "with critic=observations it sees what all agents see");
  }
  const agent_layout layout(spec);
  const agent_layout::range all_observations{0, layout.state().begin};
  const auto central = options.critic == central_input::none           ? agent_layout::range()
                       : options.critic == central_input::observations ? all_observations
                                                                       : layout.state();
  auto shape = shape_of(spec);
  shape.parts.clear();
  std::vector<std::size_t> first_agent;
  for (std::size_t i = 0; i < layout.count(); ++i) {
    const auto& name = policy_of_agent.at(i);
    const auto known = std::ranges::find(shape.policies, name, &policy_shape::name);
    const auto policy = static_cast<std::size_t>(known - shape.policies.begin());
    if (known == shape.policies.end()) {
      shape.policies.push_back(policy_for(spec, i));
      shape.policies.back().name = name;
      first_agent.push_back(i);
    } else {
      require_same_spaces(spec, first_agent[policy], i, name);
    }
    const auto id = std::ranges::count(shape.agents, to_int(policy), &agent_view::policy);
    const auto& of = layout[i];
    shape.agents.push_back({.name = spec.agents[i].name,
                            .policy = to_int(policy),
                            .obs_begin = to_int(of.obs.begin),
                            .obs_size = to_int(of.obs.size),
                            .id = static_cast<int>(id),
                            .ids = 0,
                            .mask_begin = to_int(of.mask.begin),
                            .critic_begin = to_int(central.begin),
                            .integers_begin = to_int(of.integers.begin),
                            .floats_begin = to_int(of.floats.begin),
                            .active = spec.agents_vary ? to_int(layout.active().begin + i) : -1});
  }
  for (std::size_t policy = 0; policy < shape.policies.size(); ++policy) {
    const auto members = std::ranges::count(shape.agents, to_int(policy), &agent_view::policy);
    const int ids = options.agent_ids && members > 1 ? static_cast<int>(members) : 0;
    auto& made = shape.policies[policy];
    made.mask_size = to_int(layout[first_agent[policy]].mask.size);
    made.critic_only = to_int(central.size);
    made.obs_size += ids + made.mask_size + made.critic_only;
    for (auto& agent : shape.agents) {
      if (agent.policy == to_int(policy)) agent.ids = ids;
    }
  }
  return shape;
}

bool would_act_next(const std::vector<agent_view>& agents, std::size_t agent, const float* before,
                    const float* next) {
  const auto acts_in = [](const float* row, const agent_view& of) {
    return of.active < 0 || row[of.active] != 0;
  };
  const auto& own = agents[agent];
  const auto takes_a_turn = [&](const agent_view& other) {
    return acts_in(next, other) && !acts_in(before, other);
  };
  if (acts_in(next, own)) return true;
  return acts_in(before, own) && std::ranges::none_of(agents, takes_a_turn);
}

agent_rows::agent_rows(const network_shape& shape, const space& actions) : agent_rows(shape) {
  if (shape.policies.empty()) {
    choices_.front() = choice_map(actions);
    return;
  }
  const auto* parts = actions.get_if<spaces::tuple>();
  if (!parts || parts->parts.size() != shape.agents.size()) {
    throw std::invalid_argument(
        fmt::format("actions: expected a Tuple of those of {} agents, got {}", shape.agents.size(),
                    to_string(actions)));
  }
  for (std::size_t i = 0; i < shape.agents.size(); ++i) choices_[i] = choice_map(parts->parts[i]);
}

namespace {

/// The view of the only agent of an environment.
agent_view view_of_all(const network_shape& shape) {
  const int seen = shape.actor_inputs();
  return {.obs_size = seen, .mask_begin = seen, .critic_begin = seen + shape.mask_size};
}

}  // namespace

agent_rows::agent_rows(const network_shape& shape) : shape_(shape) {
  for (const auto& policy : shape.policies) shapes_.push_back(shape_of(policy));
  if (shape.policies.empty()) {
    shapes_.push_back(shape);
    shape_.agents = {view_of_all(shape)};
  }
  members_.resize(shapes_.size());
  choices_.resize(shape_.agents.size());
  for (std::size_t i = 0; i < shape_.agents.size(); ++i) {
    members_[static_cast<std::size_t>(shape_.agents[i].policy)].push_back(i);
  }
  integers_ = static_cast<std::size_t>(shape.choice_count());
  floats_ = static_cast<std::size_t>(shape.continuous_size);
  for (const auto& agent : shape_.agents) require_inside(agent);
}

bool agent_rows::always_act(std::size_t policy) const {
  return std::ranges::all_of(members_[policy],
                             [this](std::size_t i) { return shape_.agents[i].active < 0; });
}

/// A model file can have any numbers.
void agent_rows::require_inside(const agent_view& agent) const {
  const auto& of = shapes_[static_cast<std::size_t>(agent.policy)];
  const auto inside = [](int begin, int size, int all) {
    return begin >= 0 && size >= 0 && size <= all && begin <= all - size;
  };
  const bool fits = inside(agent.obs_begin, agent.obs_size, shape_.obs_size) &&
                    inside(agent.mask_begin, of.mask_size, shape_.obs_size) &&
                    inside(agent.critic_begin, of.critic_only, shape_.obs_size) &&
                    inside(agent.integers_begin, of.choice_count(), static_cast<int>(integers_)) &&
                    inside(agent.floats_begin, of.continuous_size, static_cast<int>(floats_)) &&
                    inside(agent.active + 1, 0, shape_.obs_size) &&
                    inside(0, agent.ids, of.obs_size) &&
                    agent.obs_size + agent.ids + of.mask_size + of.critic_only == of.obs_size;
  if (fits) return;
  throw std::invalid_argument("agent \"" + agent.name + "\" of (" + to_string(shape_) +
                              "): expected numbers inside of observations and actions");
}

/// Writes whole rows, or only what the actor sees.
template <bool Whole>
void agent_rows::gather_rows(std::size_t policy, std::span<const float> joint, float* to) const {
  const auto& of = shapes_[policy];
  const auto width = static_cast<std::size_t>(shape_.obs_size);
  for (const float* row = joint.data(); row != joint.data() + joint.size(); row += width) {
    for (const auto i : members_[policy]) {
      const auto& agent = shape_.agents[i];
      to = std::copy_n(row + agent.obs_begin, agent.obs_size, to);
      for (int id = 0; id < agent.ids; ++id) *to++ = id == agent.id ? 1.0f : 0.0f;
      if constexpr (Whole) {
        to = std::copy_n(row + agent.mask_begin, of.mask_size, to);
        to = std::copy_n(row + agent.critic_begin, of.critic_only, to);
      }
    }
  }
}

void agent_rows::gather(std::size_t policy, std::span<const float> joint,
                        std::span<float> rows) const {
  gather_rows<true>(policy, joint, rows.data());
}

void agent_rows::gather_inputs(std::size_t policy, std::span<const float> joint,
                               std::span<float> rows) const {
  gather_rows<false>(policy, joint, rows.data());
}

void agent_rows::gather_active(std::size_t policy, std::span<const float> joint,
                               std::span<std::uint8_t> active) const {
  const auto width = static_cast<std::size_t>(shape_.obs_size);
  auto* to = active.data();
  for (const float* row = joint.data(); row != joint.data() + joint.size(); row += width) {
    for (const auto i : members_[policy]) {
      const int at = shape_.agents[i].active;
      *to++ = at < 0 || row[at] != 0;
    }
  }
}

void agent_rows::act(std::size_t policy, scripted_policy& script, std::span<const float> rows,
                     action_random& random, std::span<std::int64_t> choices,
                     std::span<float> floats) const {
  const auto& of = shapes_[policy];
  const auto width = static_cast<std::size_t>(of.obs_size);
  const auto own_choices = static_cast<std::size_t>(of.choice_count());
  const auto own_floats = static_cast<std::size_t>(of.continuous_size);
  const auto obs = static_cast<std::size_t>(shape_.agents[members_[policy].front()].obs_size);
  const auto mask_begin = static_cast<std::size_t>(of.actor_inputs());
  for (std::size_t i = 0; i < rows.size() / width; ++i) {
    const auto row = rows.subspan(i * width, width);
    const agent_sight seen{row.first(obs),
                           row.subspan(mask_begin, static_cast<std::size_t>(of.mask_size))};
    script.act(seen, random, choices.subspan(i * own_choices, own_choices),
               floats.subspan(i * own_floats, own_floats));
  }
}

void agent_rows::scatter(std::size_t policy, std::span<const std::int64_t> choices,
                         std::span<const float> floats, std::span<std::int64_t> joint_integers,
                         std::span<float> joint_floats) const {
  const auto own_integers = static_cast<std::size_t>(shapes_[policy].choice_count());
  const auto own_floats = static_cast<std::size_t>(shapes_[policy].continuous_size);
  const auto& members = members_[policy];
  const auto count = members.size();
  const auto environments = own_integers > 0 ? choices.size() / (count * own_integers)
                                             : floats.size() / (count * own_floats);
  for (std::size_t b = 0; b < environments; ++b) {
    for (std::size_t k = 0; k < count; ++k) {
      const auto& agent = shape_.agents[members[k]];
      const auto from = b * count + k;
      const auto its = joint_integers.subspan(
          b * integers_ + static_cast<std::size_t>(agent.integers_begin), own_integers);
      std::ranges::copy(choices.subspan(from * own_integers, own_integers), its.begin());
      choices_[members[k]].to_environment(its);
      std::ranges::copy(
          floats.subspan(from * own_floats, own_floats),
          joint_floats.begin() + static_cast<std::ptrdiff_t>(
                                     b * floats_ + static_cast<std::size_t>(agent.floats_begin)));
    }
  }
}

}  // namespace troupe
