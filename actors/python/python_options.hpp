#pragma once
// The options of environments in Python.

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct python_options {
  /// The Python interpreter, 3.9 or later, with NumPy. Empty means that of $VIRTUAL_ENV, else
  /// python3.
  std::string interpreter = {};
  /// Wrappers, the innermost first: "minigrid.wrappers.FlatObsWrapper", or "TimeAwareObservation"
  /// for one of gymnasium.wrappers, with arguments such as "FrameStackObservation(stack_size=4)".
  std::vector<std::string> wrappers = {};
  /// The numbers of an episode's last info that finished_episode::info has.
  std::vector<std::string> info = {};
  double start_timeout = 120;  ///< Seconds for the imports and for making the environments.
  /// Seconds for a reset of all environments of a process, and for each reset that a step makes.
  double reset_timeout = 60;
  /// Seconds for a step of all environments of a process. They begin anew after a reset in it.
  double step_timeout = 60;
  /// The limit of private memory in MiB (RLIMIT_DATA); 0 means none. Beyond it Python raises
  /// MemoryError.
  std::int64_t memory_limit_mb = 0;
  /// After so many episodes a process of environments is replaced by a new one; 0 means never.
  /// Each of its environments ends its episode before, so no episode is lost.
  std::int64_t replace_after_episodes = 0;
  /// A process is replaced likewise once it has more private resident memory in MiB; 0 means never.
  std::int64_t replace_above_mb = 0;
  bool render = false;  ///< The environments are made with render_mode="rgb_array", for pictures.
  bool operator==(const python_options&) const = default;
};

}  // namespace troupe
