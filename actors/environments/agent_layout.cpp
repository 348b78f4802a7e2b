#include "actors/environments/agent_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/environments/action_numbers.hpp"

namespace troupe {
namespace {

action_numbers numbers_of_agent(const env_spec& spec, const agent_spec& agent) {
  try {
    return numbers_of(agent.action_space);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("{}: agent \"{}\": expected an action space of numbers: {}", spec.id,
                    agent.name, error.what()));
  }
}

std::size_t choices_of(const action_numbers& numbers) {
  std::size_t choices = 0;
  for (const auto& integer : numbers.integers) choices += static_cast<std::size_t>(integer.count);
  return choices;
}

void require_own_name(const env_spec& spec, std::size_t i) {
  const auto& name = spec.agents[i].name;
  if (name.size() > agent_layout::name_bytes_max) {
    throw std::invalid_argument(fmt::format(
        "{}: expected agents with names of at most {} bytes, got one of {} bytes: \"{}...\"",
        spec.id, agent_layout::name_bytes_max, name.size(), name.substr(0, 20)));
  }
  const auto before = std::span(spec.agents).first(i);
  if (!name.empty() && std::ranges::find(before, name, &agent_spec::name) == before.end()) return;
  throw std::invalid_argument(
      fmt::format("{}: expected agents with names of their own, got \"{}\" {}", spec.id, name,
                  name.empty() ? "for an agent" : "twice"));
}

}  // namespace

agent_layout::agent_layout(const env_spec& spec) {
  std::size_t obs = 0, integers = 0, floats = 0;
  const auto take = [](std::size_t& next, std::size_t size) {
    const range taken{next, size};
    next += size;
    return taken;
  };
  std::vector<std::size_t> choices;
  for (std::size_t i = 0; i < spec.agents.size(); ++i) {
    require_own_name(spec, i);
    const auto numbers = numbers_of_agent(spec, spec.agents[i]);
    choices.push_back(choices_of(numbers));
    agents_.push_back({.obs = take(obs, spec.agents[i].observation_space.flat_size()),
                       .mask = {},
                       .integers = take(integers, numbers.integers.size()),
                       .floats = take(floats, numbers.low.size())});
  }
  state_ = take(obs, spec.state_space ? spec.state_space->flat_size() : 0);
  active_ = take(obs, spec.agents_vary ? agents_.size() : 0);
  masks_.begin = obs;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i].mask = take(obs, spec.action_masks ? choices[i] : 0);
  }
  masks_.size = obs - masks_.begin;
}

env_spec with_joint_spaces(env_spec spec) {
  const agent_layout layout(spec);
  std::vector<space> seen, actions;
  for (const auto& agent : spec.agents) {
    seen.push_back(agent.observation_space);
    actions.push_back(agent.action_space);
  }
  const auto append_flags = [&seen](std::size_t count) {
    if (count > 0) seen.push_back(spaces::box(0, 1, {static_cast<std::int64_t>(count)}));
  };
  if (spec.state_space) seen.push_back(*spec.state_space);
  append_flags(layout.active().size);
  append_flags(layout.masks().size);
  spec.observation_space = spaces::tuple(std::move(seen));
  spec.action_space = spaces::tuple(std::move(actions));
  return spec;
}

}  // namespace troupe
