#pragma once
// Internal to this folder: one environment as a client steps it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "actors/environments/vector_environment.hpp"

namespace troupe::openenv_server {

/// Thrown if the environment can't do what was requested, or failed at it.
class execution_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One environment as a client plays it: a reset begins an episode, and steps follow until it has
/// ended. The same seeds give the same episodes: a reset without a seed continues the random
/// generator as in Gymnasium, although the vector environment begins the next episode by itself.
class played_environment {
 public:
  /// The result of the last reset or step. It is borrowed until the next one.
  struct view {
    std::span<const float> obs;    ///< [D]
    std::optional<double> reward;  ///< nullopt after a reset
    bool terminated = false;
    bool truncated = false;
    bool done() const { return terminated || truncated; }
  };

  /// Throws std::invalid_argument unless the size is 1.
  explicit played_environment(std::unique_ptr<vector_environment> one);

  env_spec spec() { return one_->spec(); }

  /// Begins an episode. Throws execution_error if the environment failed.
  view reset(std::optional<std::uint64_t> seed);
  /// Takes a step. The action lies in the action space. Throws execution_error before a reset,
  /// after the episode's end, and if the environment failed, which ends the episode.
  view step(env_actions& action);

 private:
  enum class phase { fresh, under_way, over, begun_anew };

  void begin_next();

  std::unique_ptr<vector_environment> one_;
  /// In the phase begun_anew the next episode has begun with the observation next_obs_.
  phase phase_ = phase::fresh;
  env_step step_;
  recycled_vector<float> next_obs_;  ///< [D]
};

}  // namespace troupe::openenv_server
