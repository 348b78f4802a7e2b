#pragma once
// The number of environments that a run needs at the same time, for which OpenEnv servers must have
// sessions.

#include <cstddef>

namespace troupe {

struct env_section;

/// Returns the number of environments of an evaluation of so many episodes: as many as
/// environments_of_evaluation says, or fewer on servers for which require_sessions has found few.
int evaluation_size(const env_section& env, int episodes, std::size_t tasks);
/// Requires sessions for the environments of a run that live at the same time: `training` of them
/// and those of `evaluations` evaluations of at most so many episodes. Only servers can lack them.
/// Throws openenv::error, which has the numbers.
void require_sessions(const env_section& env, int training, int evaluations, int episodes);

}  // namespace troupe
