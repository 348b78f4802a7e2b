#include "deploy/troupe/algorithms.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/reinforce.hpp"
#include "algorithms/run/option_rules.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

template <class Config>
Config read(const nlohmann::json& document, const permissions& may) {
  auto config = parse_config<Config>(document);
  if constexpr (requires { config.allow_unsandboxed_code; })
    config.allow_unsandboxed_code = may.unsandboxed_code;
  return config;
}

template <class Config>
constexpr algorithm entry(const char* name, const char* what) {
  return {name, what,
          [](const nlohmann::json& document, const permissions& may) {
            return trainable_of(read<Config>(document, may));
          },
          [] { return configuration_schema<Config>(); }, nullptr};
}

constexpr algorithm entry_of_grpo() {
  auto grpo = entry<grpo_config>(
      "grpo", "language models on rewards: GRPO, Dr.GRPO, DAPO, GSPO, CISPO, RLOO");
  grpo.evaluate = [](const nlohmann::json& document, const permissions& may,
                     const std::filesystem::path& model, std::size_t problems) {
    const auto config = read<grpo_config>(document, may);
    const auto at_the_end = static_cast<std::size_t>(config.evaluation.final_problems);
    return evaluate_model(config, model, problems > 0 ? problems : at_the_end);
  };
  return grpo;
}

constexpr algorithm known[] = {
    entry<ppo_config>("ppo", "proximal policy optimisation, sync and async"),
    entry<a2c_config>("a2c", "advantage actor-critic, sync and async"),
    entry<reinforce_config>("reinforce", "Williams's policy gradient, with a baseline or without"),
    entry<dqn_config>("dqn", "deep Q-learning, discrete actions, sync and async"),
    entry<sac_config>("sac", "soft actor-critic, continuous actions, sync and async"),
    entry<td3_config>("td3", "twin delayed DDPG, continuous actions, sync and async"),
    entry<ddpg_config>("ddpg", "deep deterministic policy gradient, as td3"),
    entry_of_grpo(),
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
