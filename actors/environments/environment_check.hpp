#pragma once
// The checks of an environment in C++: those of Gymnasium's and Stable-Baselines3's `check_env`,
// and those of this project's own contract (environment.hpp). All faults are told, and not the
// first one alone.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/environment_report.hpp"
#include "actors/environments/vector_environment.hpp"

namespace troupe {

struct check_options {
  std::int64_t steps = 1000;  ///< The length of the longest sequence of steps that is played; >= 1.
  std::uint64_t seed = 0;     ///< Seeds the environment and the actions.
  std::int64_t n_envs = 1;    ///< The speed is measured with one environment and with so many.
  double speed_seconds = 3;   ///< A measurement of the speed ends after so long, or after `steps`.
  /// The longest sequence ends after so long, too. The parts that repeat it are then as short.
  double seconds = 20;
  /// Is told each call in the process that asked for the checks, in which no call is made before.
  call_observer on_call = {};

  /// Returns the numbers of environments with which the speed is measured.
  std::vector<std::int64_t> measured_sizes() const {
    return n_envs > 1 ? std::vector<std::int64_t>{1, n_envs} : std::vector<std::int64_t>{1};
  }
};

/// Checks the environments that `make` makes. It makes several of them.
void check_environment(const std::function<std::unique_ptr<environment>()>& make,
                       const check_options& options, check_listener& to);

/// Measures how fast environments take options.steps steps together.
environment_speed measure_speed(vector_environment& environments, const check_options& options);

namespace detail {

/// Tells a fault of a flattened observation: the check, the key of the part, what was expected and
/// what was there.
using observation_fault = std::function<void(const char* check, const std::string& key,
                                             std::string expected, std::string got)>;
/// Tells the first fault of each part of an observation [flat_size()] that is outside of `of`.
void check_observation(const space& of, std::span<const float> obs, const observation_fault& tell);
/// Does so for a row of an environment with several agents. The part of an agent that does not act
/// may be zeros, which stand for no observation.
void check_joint_observation(const env_spec& spec, std::span<const float> row,
                             const observation_fault& tell);

/// Returns the key of the part of a flattened value to which element `index` belongs, and the
/// index in that part.
std::pair<std::string, std::size_t> part_at(const space& of, std::size_t index);

}  // namespace detail
}  // namespace troupe
