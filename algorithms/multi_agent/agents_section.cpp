#include "algorithms/multi_agent/agents_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/environments/action_numbers.hpp"
#include "actors/environments/agent_layout.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "runtime/base/log.hpp"

namespace troupe {
namespace {

/// Returns the name of the agents that are like this one: "adversary" for "adversary_0".
std::string kind_of_agent(const std::string& name) {
  const auto end = name.find_last_not_of("0123456789");
  if (end == name.npos || end == 0 || end + 1 == name.size() || name[end] != '_') return name;
  return name.substr(0, end);
}

std::string names_of(const env_spec& spec) {
  std::vector<std::string> names;
  for (const auto& agent : spec.agents) names.push_back('"' + agent.name + '"');
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void refuse(const env_spec& spec, const std::string& problem) {
  throw std::invalid_argument(fmt::format("agents.policies: {} by {}, whose agents are {}", problem,
                                          spec.id, names_of(spec)));
}

nlohmann::json scripts_of(const agents_section& section) {
  return nlohmann::json::parse(section.scripted.text);
}

/// Lets a scripted policy act once on zeros. Throws std::invalid_argument, before a run begins, if
/// it is not known or plays other agents.
void require_script(const scripted_policy_request& request, const agent_spec& agent) {
  const auto numbers = numbers_of(request.actions);
  std::vector<std::int64_t> choices(numbers.integers.size());
  std::vector<float> floats(numbers.low.size());
  const std::vector<float> obs(agent.observation_space.flat_size());
  action_random random(0);
  try {
    make_scripted_policy(request)->act({obs, {}}, random, choices, floats);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("agents.scripted: agent \"{}\": {}", agent.name, error.what()));
  }
}

/// Returns the pattern for fnmatch, in which * and ? alone have a meaning.
std::string glob_of(const std::string& pattern) {
  std::string glob;
  for (const char c : pattern) {
    if (c == '[' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

void cover(const env_spec& spec, const std::string& pattern, const std::string& policy,
           std::vector<std::string>& policies) {
  bool covers = false;
  const auto glob = glob_of(pattern);
  for (std::size_t i = 0; i < spec.agents.size(); ++i) {
    const auto& name = spec.agents[i].name;
    if (::fnmatch(glob.c_str(), name.c_str(), 0) != 0) continue;
    covers = true;
    if (!policies[i].empty()) {
      refuse(spec, fmt::format("expected one pattern for each agent, got two for \"{}\": \"{}\" is "
                               "the second",
                               name, pattern));
    }
    policies[i] = policy;
  }
  if (!covers) {
    refuse(spec, fmt::format("expected patterns that cover an agent, got \"{}\", which covers none",
                             pattern));
  }
}

}  // namespace

std::vector<std::string> policy_of_agents(const agents_section& section, const env_spec& spec) {
  std::vector<std::string> policies(spec.agents.size());
  const auto patterns = nlohmann::json::parse(section.policies.text);
  for (const auto& [pattern, policy] : patterns.items()) {
    const auto length = policy.is_string() ? policy.get_ref<const std::string&>().size() : 0;
    if (length > agent_layout::name_bytes_max) {
      refuse(spec,
             fmt::format("expected the name of a policy, of at most {} bytes, for \"{}\", got "
                         "one of {} bytes",
                         agent_layout::name_bytes_max, pattern, length));
    }
    if (length == 0) {
      refuse(spec, fmt::format("expected the name of a policy for \"{}\", got {}", pattern,
                               policy.dump()));
    }
    cover(spec, pattern, policy.get<std::string>(), policies);
  }
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const auto& name = spec.agents[i].name;
    if (patterns.empty()) policies[i] = section.share ? kind_of_agent(name) : name;
    if (policies[i].empty()) {
      refuse(spec, fmt::format("expected a pattern that covers \"{}\", got none", name));
    }
  }
  const auto require_policy = [&](const char* option, const std::string& name) {
    if (std::ranges::find(policies, name) != policies.end()) return;
    throw std::invalid_argument(fmt::format(
        "{}: expected policies that play an agent of {}, got \"{}\"; the policies of {} "
        "are \"{}\"",
        option, spec.id, name, names_of(spec), fmt::join(policies, "\", \"")));
  };
  for (const auto& name : section.frozen) require_policy("agents.frozen", name);
  if (!section.score.empty()) require_policy("agents.score", section.score);
  const auto scripts = scripts_of(section);
  for (const auto& [name, script] : scripts.items()) require_policy("agents.scripted", name);
  return policies;
}

network_shape shape_of_agents(const agents_section& section, const env_spec& spec,
                              central_input critic, const std::string& env_options) {
  auto shape = joint_shape(spec, policy_of_agents(section, spec),
                           {.agent_ids = section.ids, .critic = critic});
  const auto scripts = scripts_of(section);
  for (const auto& [name, script] : scripts.items()) {
    const auto policy = std::ranges::find(shape.policies, name, &policy_shape::name);
    if (!script.is_string()) {
      throw std::invalid_argument(
          fmt::format("agents.scripted: expected the name of a scripted policy for \"{}\", got {}",
                      name, script.dump()));
    }
    policy->script = script.get<std::string>();
    const auto index = static_cast<int>(policy - shape.policies.begin());
    const auto agent = std::ranges::find(shape.agents, index, &agent_view::policy);
    const auto& of = spec.agents[static_cast<std::size_t>(agent - shape.agents.begin())];
    require_script({policy->script, of.action_space, env_options}, of);
  }
  for (auto& policy : shape.policies) {
    policy.scored = section.score.empty() || policy.name == section.score;
  }
  return shape;
}

std::vector<std::uint8_t> trained_policies(const agents_section& section,
                                           const network_shape& shape) {
  std::vector<std::uint8_t> learns;
  for (const auto& policy : shape.policies) {
    learns.push_back(policy.script.empty() &&
                     std::ranges::find(section.frozen, policy.name) == section.frozen.end());
  }
  return learns;
}

void warn_of_idle_policies(const agents_section& section, const network_shape& shape) {
  for (const auto& policy : shape.policies) {
    const bool frozen = std::ranges::find(section.frozen, policy.name) != section.frozen.end();
    if (!frozen || policy.script.empty()) continue;
    log::warn("agents.frozen has no effect on a policy of agents.scripted",
              {{"policy", policy.name}, {"script", policy.script}});
  }
  const auto learns = trained_policies(section, shape);
  if (std::ranges::find(learns, 1) == learns.end()) {
    log::warn("no policy learns, because agents.frozen and agents.scripted have them all");
  }
}

void describe(enum_schema<reward_team>& s) {
  s.name("all", reward_team::all).name("policy", reward_team::policy);
}

void describe(options_schema<agents_section>& s) {
  s.field("policies", &agents_section::policies)
      .help(
          "Which policy plays which agents: an object from patterns of agents' names, with * and "
          "?, to names of policies, such as {\"chaser_*\": \"chaser\", \"runner\": \"runner\"}. "
          "Each agent needs exactly one pattern. If the object is empty, agents whose names differ "
          "only in their number share a policy.");
  s.field("share", &agents_section::share)
      .has_effect_if("agents.policies is {}",
                     [](const agents_section& a) { return a.policies.empty(); })
      .help(
          "If true, agents whose names differ only in their number share a policy; if false, each "
          "agent has a policy of its own.");
  s.field("frozen", &agents_section::frozen)
      .items(0, 1024)
      .example("[runner]")
      .help(
          "The policies that act and are not trained. Their weights are random unless the run "
          "begins with a model.");
  s.field("scripted", &agents_section::scripted)
      .help(
          "The policies that follow fixed rules: an object from names of policies to names of "
          "scripted policies, such as {\"agent\": \"simple_tag.runner\"}. \"random\" plays any "
          "agent.");
  s.field("ids", &agents_section::ids)
      .help(
          "If true, an agent that shares its policy with others sees its own number, one-hot, "
          "behind "
          "its observation.");
  s.field("shared_reward", &agents_section::shared_reward)
      .at_least(0)
      .at_most(1)
      .help(
          "The weight w of the team's mean reward: an agent is trained on (1 - w) times its own "
          "reward plus w times the mean reward of its team.");
  const auto shares_reward = [](const agents_section& a) { return a.shared_reward > 0; };
  s.field("team", &agents_section::team)
      .has_effect_if("agents.shared_reward is above 0", shares_reward)
      .help(
          "The team whose mean reward is shared: all agents, or the agents that the same policy "
          "plays.");
  s.field("reward_after_end", &agents_section::reward_after_end)
      .has_effect_if("agents.shared_reward is above 0", shares_reward)
      .help(
          "If true, an agent that has ended by itself gets its share of the team's reward until "
          "the episode ends for all, so that it learns what its end was worth to the team.");
  s.field("proper_time_limits", &agents_section::proper_time_limits)
      .also_known_as({"use_proper_time_limits"})
      .help(
          "If true, an agent that a time limit cuts off goes on with the value of what it saw "
          "last; "
          "if false, a time limit counts as an end, as it does by default in MAPPO's code and in "
          "EPyMARL.");
  s.field("score", &agents_section::score)
      .help(
          "The policy whose agents' mean return is the score, which is in rollout/ep_rew_mean and "
          "eval/mean_reward and chooses the best model. Empty means all agents.");
}

}  // namespace troupe
