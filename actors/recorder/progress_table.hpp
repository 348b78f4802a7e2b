#pragma once
// The progress table on stdout.

#include <map>
#include <string>

namespace troupe {

/// Returns the table of one progress row as Stable-Baselines3 prints it on stdout, ending in a line
/// break. Keys are sorted, and a row such as `rollout/` stands above the keys of its group. Whole
/// numbers are printed exactly and others with three digits. Keys and values are cut at 36
/// characters.
///
///     ---------------------------------
///     | rollout/           |          |
///     |    ep_rew_mean     | 22.5     |
///     | time/              |          |
///     |    total_timesteps | 2048     |
///     ---------------------------------
std::string progress_table(const std::map<std::string, double>& values);

}  // namespace troupe
