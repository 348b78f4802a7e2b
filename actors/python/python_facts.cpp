#include "actors/python/python_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/environments/space_json.hpp"
#include "actors/python/python_worker.hpp"
#include "runtime/base/told_once.hpp"

namespace troupe::detail {

using nlohmann::json;

namespace {

/// Completes the spec of an environment with several agents.
env_spec with_agents(env_spec spec, const json& several) {
  for (const auto& agent : several.at("agents"))
    spec.agents.push_back({.name = agent.at(0).get<std::string>(),
                           .observation_space = space_from_json(agent.at(1)),
                           .action_space = space_from_json(agent.at(2))});
  const auto& state = several.at("state_space");
  if (!state.is_null()) spec.state_space = space_from_json(state);
  spec.agents_vary = several.at("agents_vary").get<bool>();
  spec.action_masks = several.at("action_masks").get<bool>();
  return with_joint_spaces(std::move(spec));
}

}  // namespace

python_facts facts_of(const environment_request& request, const json& told) {
  python_facts facts;
  facts.spec = {.id = request.id,
                .observation_space = space_from_json(told.at("observation_space")),
                .action_space = space_from_json(told.at("action_space"))};
  const auto& limit = told.at("max_episode_steps");
  if (limit.is_number_integer()) facts.spec.max_episode_steps = limit.get<std::int64_t>();
  facts.spec.render_fps = told.at("render_fps").get<double>();
  const auto& threshold = told.at("reward_threshold");
  if (threshold.is_number()) facts.spec.reward_threshold = threshold.get<double>();
  facts.spec.levels = told.at("levels").get<std::size_t>();
  const auto& several = told.at("several");
  if (!several.is_null()) facts.spec = with_agents(std::move(facts.spec), several);
  facts.obs_size = told.at("obs_size").get<std::size_t>();
  facts.integers = told.at("integers").get<std::size_t>();
  facts.floats = told.at("floats").get<std::size_t>();
  if (facts.obs_size != facts.spec.observation_space.flat_size())
    throw python_error(fmt::format("{}: expected observations of {} numbers, got {}", request.id,
                                   facts.spec.observation_space.flat_size(), facts.obs_size));
  return facts;
}

known_facts& known_facts::of_this_process() {
  static known_facts it;
  return it;
}

std::optional<python_facts> known_facts::find(const environment_request& request) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, request, &entry::first);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void known_facts::add(const environment_request& request, const python_facts& facts,
                      const json& left_out) {
  constexpr std::size_t most = 64;
  const std::lock_guard lock(mutex_);
  const auto known = std::erase_if(known_, [&](const entry& of) { return of.first == request; });
  for (const auto& part : left_out) {
    if (known > 0) break;
    log::warn("a part of the observations is left out, for it is no kind of numbers",
              {{"env", request.id}, {"part", part.get<std::string>()}});
  }
  known_.emplace_back(request, facts);
  if (known_.size() > most) known_.pop_front();
}

void tell_notices(const environment_request& request, const json& notices) {
  for (const auto& one : notices)
    if (log::is_new("environments\n" + request.id + '\n' + one.at("about").get<std::string>()))
      log::warn(one.at("text").get<std::string>(), {{"env", request.id}});
}

}  // namespace troupe::detail
