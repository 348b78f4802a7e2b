#include "deploy/troupe/algorithms.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/a2c/a2c.hpp"
#include "algorithms/dqn/dqn.hpp"
#include "algorithms/reinforce/reinforce.hpp"
#include "algorithms/sac/sac.hpp"
#include "algorithms/td3/td3.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

const ppo_config& as_ppo(const ppo_config& config) { return config; }

template <class Config>
constexpr algorithm on_policy(const char* name, const char* what) {
  return {name, what,
          [](const nlohmann::json& document) {
            return ppo_config(as_ppo(parse_config<Config>(document)));
          },
          [] { return schema_json<Config>(); }};
}

template <class Config>
constexpr algorithm off_policy(const char* name, const char* what) {
  return {
      name, what, nullptr, [] { return schema_json<Config>(); },
      [](const nlohmann::json& document) { return trainable_of(parse_config<Config>(document)); }};
}

constexpr algorithm known[] = {
    on_policy<ppo_config>("ppo", "proximal policy optimisation, sync and async"),
    on_policy<a2c_config>("a2c", "advantage actor-critic, sync and async"),
    on_policy<reinforce_config>("reinforce",
                                "Williams's policy gradient, with a baseline or without"),
    off_policy<dqn_config>("dqn", "deep Q-learning, discrete actions, sync and async"),
    off_policy<sac_config>("sac", "soft actor-critic, continuous actions, sync and async"),
    off_policy<td3_config>("td3", "twin delayed DDPG, continuous actions, sync and async"),
    off_policy<ddpg_config>("ddpg", "deep deterministic policy gradient, as td3"),
};

}  // namespace

std::span<const algorithm> algorithms() { return known; }

const algorithm& find_algorithm(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& one : known) {
    if (one.name == name) return one;
    names.emplace_back(one.name);
  }
  throw std::invalid_argument(unknown_name_message("algorithm", name, names));
}

const algorithm& algorithm_of(const nlohmann::json& document,
                              const std::optional<std::string>& asked) {
  std::optional<std::string> says;
  if (document.is_object() && document.contains("algo") && document["algo"].is_string()) {
    says = document["algo"].get<std::string>();
  }
  if (says && asked && *says != *asked) {
    throw config_error("/algo",
                       "expected \"" + *asked + "\", as --algo says, got \"" + *says + '"');
  }
  return find_algorithm(says.value_or(asked.value_or("ppo")));
}

}  // namespace troupe::command
