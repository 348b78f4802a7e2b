#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/environments/running_normalizer.hpp"
#include "actors/environments/vector_environment.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/wire/portable_function.hpp"

namespace troupe {

/// What B environments show now.
struct env_observation {
  recycled_vector<float> rows;    ///< [B, D]
  std::int64_t environments = 0;  ///< B
  bool begun = false;             ///< They were reset for this: nobody has seen these rows.
};

/// Told what environments do; each function may be null.
struct env_observers {
  portable_function<void(std::int64_t steps)> stepped;
  portable_function<void(double episode_return, std::int64_t length, bool truncated)> episode_ended;
  portable_function<void(const env_failure&)> failed;
};

/// Environments that fail and fail: nothing can be learned on them. Names the last failure.
class environment_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role in which environments are replicated: B of one kind that go on where they were left,
/// however many coroutines take turns with them.
class hosted_environment {
 public:
  /// Called in the replica, so that each has environments of its own.
  using factory = portable_function<std::unique_ptr<vector_environment>()>;

  /// `seed`: each replica, and each restart of one, seeds its environments by a hash of it: see
  /// first_seed. `discount`: steps come with discounted returns; none: without. `groups`: so many
  /// replicas, one after the other, are seeded as one that had all their environments.
  hosted_environment(const replica_info& info, const factory& make, std::uint64_t seed,
                     env_observers observers = {}, std::optional<double> discount = std::nullopt,
                     std::size_t groups = 1);

  /// What the first environment of a replica without groups is seeded with; the others there have
  /// the numbers after it.
  static std::uint64_t first_seed(const replica_info& info, std::uint64_t seed);

  env_spec spec() { return environments_->spec(); }
  std::size_t size() { return environments_->size(); }  ///< B
  /// Where they are now; the first call resets them.
  env_observation observe();
  /// Failures of each environment, on average, without the end of an episode between, after which
  /// they are given up.
  static constexpr std::int64_t failures_max = 100;
  /// One step of each. Throws wrong_actions if the actions don't fit, and environment_failed once
  /// there are too many failures. After environment_lost all of them begin anew.
  env_step step(env_actions actions);

  /// See vector_environment.
  void set_level(std::size_t level);
  /// Turns of `replicas` replicas: the first is that of replica 0, the second that of replica 1,
  /// and so on in turn.
  void set_turns(std::vector<std::size_t> turns, std::size_t replicas);
  /// The episodes that have ended since the last call, where there are levels or tasks: the newest
  /// graded_max at most.
  std::vector<graded_episode> take_graded() { return std::exchange(graded_, {}); }
  static constexpr std::size_t graded_max = 65'536;

  /// Where they are, for checkpoints. Environments that can't be saved keep nothing: restored,
  /// they are reset with this role's own seed.
  std::string save();
  /// Throws state_error if the bytes are not of as many equal environments.
  void restore(std::string bytes);

 private:
  env_step try_step(env_actions actions);
  void report(const std::vector<env_failure>& failures) const;
  void require_some_success(const env_step& after);
  void discount(env_step& after);
  void grade(const env_step& after);

  std::unique_ptr<vector_environment> environments_;
  std::optional<std::uint64_t> seed_;  ///< Of the first reset.
  env_observers observers_;
  std::optional<std::vector<float>> obs_;  ///< [B, D]; none before a reset.
  std::optional<discounted_returns> returns_;
  std::int64_t failures_ = 0;  ///< Since an episode ended.
  std::size_t index_;          ///< Of this replica.
  bool grades_;
  std::vector<graded_episode> graded_;
};

}  // namespace troupe
