#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "actors/environments/vector_environment.hpp"

namespace troupe::openenv_server {

/// The environment can't do what was asked of it, or failed at it.
class execution_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One environment as a client plays it: a reset begins an episode, and steps follow until it has
/// ended. Same seeds, same episodes: resets that come without one go on with the generator as
/// Gymnasium's do, though the vector environment begins the next episode by itself.
class played_environment {
 public:
  /// What the last reset or step showed. Borrowed until the next.
  struct view {
    std::span<const float> obs;    ///< [D]
    std::optional<double> reward;  ///< None after a reset.
    bool terminated = false;
    bool truncated = false;
    bool done() const { return terminated || truncated; }
  };

  /// Throws std::invalid_argument for other than one environment.
  explicit played_environment(std::unique_ptr<vector_environment> one);

  env_spec spec() { return one_->spec(); }

  /// Throws execution_error if the environment failed.
  view reset(std::optional<std::uint64_t> seed);
  /// One environment's action, which lies in the action space. Throws execution_error before a
  /// reset, after the episode's end, and if the environment failed, which ends the episode.
  view step(env_actions& action);

 private:
  enum class phase { fresh, under_way, over, begun_anew };

  void begin_next();

  std::unique_ptr<vector_environment> one_;
  phase phase_ = phase::fresh;  ///< begun_anew: the next episode is, and shows next_obs_.
  env_step step_;
  recycled_vector<float> next_obs_;  ///< [D]
};

}  // namespace troupe::openenv_server
