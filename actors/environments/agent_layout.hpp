#pragma once
// Where the numbers of each agent lie in the observations and actions of an environment with
// several agents.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// The layout of one observation row [D] and of one action of an environment with N agents:
///
///   row = agent 0 [D_0], ..., agent N-1 [D_N-1], state [S], active [N], action mask [M]
///
/// `state` is the global state; a spec without state_space has none. `active` has a 1 for each
/// agent that acts in the next step; it is there only with env_spec::agents_vary, because otherwise
/// all agents act. `action mask` has a 1 for each choice that is allowed, for the integers of agent
/// 0, then those of agent 1 and so on; it is there only with env_spec::action_masks. An action has
/// the integers of all agents one after another, and the floats likewise.
class agent_layout {
 public:
  /// The longest name of an agent in bytes. It becomes a part of columns and of tensors' names.
  static constexpr std::size_t name_bytes_max = 256;

  /// A range of numbers.
  struct range {
    std::size_t begin = 0;
    std::size_t size = 0;

    template <class T>
    std::span<T> of(std::span<T> row) const {
      return row.subspan(begin, size);
    }
  };
  /// Where the numbers of one agent are.
  struct agent {
    range obs;       ///< In an observation row.
    range mask;      ///< Its action mask in an observation row; empty without masks.
    range integers;  ///< In the integers of an action.
    range floats;    ///< In the floats of an action.
  };

  agent_layout() = default;
  /// Throws std::invalid_argument that names the environment and the agent: for agents of the same
  /// name, or without one, or with one that is longer than name_bytes_max, and for a space of
  /// observations or actions that consists of no numbers.
  explicit agent_layout(const env_spec& spec);

  std::size_t count() const { return agents_.size(); }  ///< Returns N.
  const agent& operator[](std::size_t i) const { return agents_[i]; }
  range state() const { return state_; }
  range active() const { return active_; }  ///< Empty if agents don't vary.
  range masks() const { return masks_; }    ///< The masks of all agents.
  std::size_t obs_size() const { return masks_.begin + masks_.size; }  ///< Returns D.

  /// Returns whether an agent acts in the step after the observation `row` [D].
  bool acts(std::span<const float> row, std::size_t agent) const {
    return active_.size == 0 || row[active_.begin + agent] != 0;
  }

 private:
  std::vector<agent> agents_;
  range state_, active_, masks_;
};

/// Completes a spec that has `agents`: sets the spaces of its observations and actions, which are
/// those of all agents in the layout of agent_layout. The observation space is a Tuple, and so is
/// the action space.
env_spec with_joint_spaces(env_spec spec);

}  // namespace troupe
