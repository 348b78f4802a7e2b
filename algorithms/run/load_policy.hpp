#pragma once
// A trained policy in a program of your own, of any algorithm:
//
//   auto policy = troupe::load_policy("runs/sac/Pendulum-v1_1");
//   const auto action = policy.act(observation);      // action.continuous or action.discrete
//
// With several agents, `policy.act("adversary_0", observation)` acts for one of them. The policy
// acts as `troupe eval` does, which uses the same code: observations are normalised, actions have
// the environment's scale and numbers, and action masks are obeyed. Neither an environment nor a
// system of actors is needed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/vector_environment.hpp"

namespace troupe {

struct load_policy_options {
  /// The model of a run directory: "last_model", as `troupe eval` takes it, or "best_model".
  std::string model = "last_model";
  /// If true, the policy takes the likeliest action. If false, it draws actions from its
  /// distribution; networks without one, those of q_learning, dqn, td3 and ddpg and of their kin
  /// for several agents, act as if it were true.
  bool deterministic = true;
  std::uint64_t seed = 0;  ///< The seed of drawn actions.
  /// If true, the code that the run's config.json names may be loaded, also where it is in the
  /// folder of the run or others may have chosen it (require_trust).
  bool trust = false;
  std::string device = "cpu";  ///< The device that computes the network: cpu, cuda or cuda:N.
};

/// A policy that acts. It must not be used by two threads at once.
class loaded_policy {
 public:
  loaded_policy(loaded_policy&&) noexcept;
  loaded_policy& operator=(loaded_policy&&) noexcept;
  ~loaded_policy();

  /// Returns the action for a flattened observation [D], as the environment takes it: the integers
  /// [P] of its discrete parts and the floats [A] of its boxes, clipped to their bounds. The
  /// observation is the one that the wrappers of the run's environment give. With several agents it
  /// is the row of all agents (agent_layout), and so is the action. Throws std::invalid_argument
  /// for an observation of another size, with a number that is not finite, or for which the sums of
  /// the network overflow, so that a float of the action would be NaN.
  env_actions act(std::span<const float> observation);
  /// Returns the action of one agent of several for its own flattened observation. `mask` has a 1
  /// for each choice that is allowed and a 0 for each that is not, if the environment has action
  /// masks. An empty one allows all, and so does one of zeros alone, because something must be
  /// chosen. Throws std::invalid_argument for an agent that there is not, for a mask of another
  /// size or with other numbers, and as above.
  env_actions act(std::string_view agent, std::span<const float> observation,
                  std::span<const float> mask = {});
  /// The same for the agent of that index in agents().
  env_actions act(std::size_t agent, std::span<const float> observation,
                  std::span<const float> mask = {});

  const std::string& algorithm() const;            ///< "ppo"; empty for a file of an older version.
  const std::filesystem::path& path() const;       ///< The model file.
  const std::vector<std::string>& agents() const;  ///< The names of the agents, if several.
  std::size_t observation_size() const;            ///< D
  /// That of one agent. Throws std::invalid_argument for an agent that there is not.
  std::size_t observation_size(std::size_t agent) const;
  const space& action_space() const;  ///< That of the environment.
  std::int64_t steps() const;         ///< The environment steps that it was trained on.

 private:
  struct parts;
  friend loaded_policy load_policy(const std::filesystem::path&, const load_policy_options&);
  explicit loaded_policy(std::unique_ptr<parts> made);

  std::unique_ptr<parts> parts_;
};

/// Reads a policy from a run directory or a model file. A model file of an older version needs the
/// config.json of its run beside it, and makes the run's environment once, for its action space.
/// Throws model_file_error for a file that is damaged or of another kind; the message names the
/// file, and the algorithm that wrote it if that is known. Throws std::invalid_argument for a run
/// without the model.
loaded_policy load_policy(const std::filesystem::path& path,
                          const load_policy_options& options = {});

}  // namespace troupe
