#pragma once
// The names of options in Stable-Baselines3 and TRL, each with ours or the reason why there is
// none.

#include <string_view>
#include <vector>

#include "runtime/config/config_error.hpp"

namespace troupe {

struct other_name {
  std::string_view name;        ///< The option's name there.
  std::string_view algorithms;  ///< The algorithms whose option it is, such as "td3 ddpg".
  std::string_view ours;        ///< Its path here, such as "trainer.lr"; empty if there is none.
  std::string_view note = {};   ///< Why there is none, or how ours differs.
};

/// The options of Stable-Baselines3's A2C, PPO, DQN, SAC, TD3 and DDPG, of their policies, and of
/// TRL's GRPOConfig, except those that have the same name here, and the usual ones of its
/// SFTConfig.
const std::vector<other_name>& other_names();

/// Returns the table's row of an option of the algorithm "ppo", ...; null if there is none.
const other_name* find_other_name(std::string_view algorithm, std::string_view name);

/// Returns the error, or one that tells our name, if it refuses an option by a name that the
/// algorithm's option has elsewhere.
config_error with_our_name(const config_error& error, std::string_view algorithm);

}  // namespace troupe
