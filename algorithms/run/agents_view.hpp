#pragma once
// What runs show of several agents: columns of progress.csv and tables of the status page.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/networks/network.hpp"
#include "algorithms/loops/recent_mean.hpp"

namespace troupe {

/// Returns the columns `rollout/AGENT/ep_rew_mean` of the agents [N] whose mean return is known,
/// and `rollout/POLICY/ep_rew_mean` of the policies that play several agents and not all: the mean
/// of theirs.
std::map<std::string, double> agent_columns(const network_shape& shape,
                                            std::span<const loops::recent_mean> returns);
/// Returns the columns `eval/AGENT/mean_reward`, `eval/POLICY/mean_reward` and
/// `eval/joint_actions/NAME`, such as `eval/joint_actions/0-2`, of an evaluation of several agents.
std::map<std::string, double> agent_columns(const env_spec& spec, const network_shape& shape,
                                            const evaluation& seen);

/// The tables of the status page about several agents: their returns and their joint actions.
class agents_view {
 public:
  agents_view() = default;
  agents_view(env_spec spec, const network_shape& shape);

  /// True if there are several agents.
  bool shows() const { return !names_.empty(); }
  /// Takes the newest values of columns of agent_columns; others are ignored.
  void note(const std::map<std::string, double>& values);
  /// Takes the shares of joint actions of an evaluation.
  void note_joint_actions(std::vector<double> shares) { joint_actions_ = std::move(shares); }
  /// Returns the newest `rollout/NAME/ep_rew_mean` by name.
  std::map<std::string, double> returns() const;
  /// Returns the boards by name, as JSON objects (runtime/metrics/status_page.html).
  std::map<std::string, std::string> boards() const;

 private:
  struct name {
    std::string is;      ///< The name of an agent, or of a policy that plays several.
    std::string beside;  ///< The agent's policy, or what the policy plays.
  };

  env_spec spec_;
  std::vector<name> names_;
  std::map<std::string, double> values_;
  std::vector<double> joint_actions_;
};

}  // namespace troupe
