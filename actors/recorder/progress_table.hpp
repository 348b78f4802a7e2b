#pragma once

#include <map>
#include <string>

namespace troupe {

/// The table of one dump as Stable-Baselines3 prints it on stdout, ending in a line break: keys
/// sorted, a row `rollout/` above the keys of that group, whole numbers as they are, others with
/// three digits, keys and values cut at 36 characters.
///
///     ---------------------------------
///     | rollout/           |          |
///     |    ep_rew_mean     | 22.5     |
///     | time/              |          |
///     |    total_timesteps | 2048     |
///     ---------------------------------
std::string progress_table(const std::map<std::string, double>& values);

}  // namespace troupe
