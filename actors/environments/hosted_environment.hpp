#pragma once
// The role that owns environments in a training run: a vector environment that keeps its state
// between the calls of a collector, and reports what happens in it.

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

/// The current observations of B environments.
struct env_observation {
  recycled_vector<float> rows;    ///< [B, D]
  std::int64_t environments = 0;  ///< The number of environments, B.
  bool begun = false;             ///< The call reset the environments, so these rows are new.
};

/// Functions that the role calls with what happens in the environments. Each may be null.
struct env_observers {
  portable_function<void(std::int64_t steps)> stepped;
  portable_function<void(double episode_return, std::int64_t length, bool truncated)> episode_ended;
  portable_function<void(const env_failure&)> failed;
  portable_function<void(const std::string& reason)> process_replaced;
};

/// Thrown when environments fail too often for anything to be learned on them. The message names
/// the last failure.
class environment_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that owns B environments of one kind. They continue where they were left, however many
/// coroutines step them in turn.
class hosted_environment {
 public:
  /// Makes the environments. It is called in the replica, so that each replica has its own.
  using factory = portable_function<std::unique_ptr<vector_environment>()>;

  /// `seed`: each replica, and each restart of one, seeds its environments with a hash of this
  /// number; see first_seed. `discount`: the discount factor of `env_step::discounted`; nullopt
  /// means that steps come without discounted returns. `groups`: the number of consecutive replicas
  /// that are seeded like one replica with the environments of all of them.
  hosted_environment(const replica_info& info, const factory& make, std::uint64_t seed,
                     env_observers observers = {}, std::optional<double> discount = std::nullopt,
                     std::size_t groups = 1);

  /// Returns the seed of a replica's first environment, for `groups` = 1. The replica's other
  /// environments have the numbers that follow.
  static std::uint64_t first_seed(const replica_info& info, std::uint64_t seed);

  env_spec spec() { return environments_->spec(); }
  std::size_t size() { return environments_->size(); }  ///< Returns B.
  /// Returns the current observations. The first call resets the environments.
  env_observation observe();
  /// The number of failures per environment, on average, without an episode's end in between, after
  /// which `step` throws environment_failed.
  static constexpr std::int64_t failures_max = 100;
  /// Takes one step of each environment. Throws wrong_actions if the actions don't fit, and
  /// environment_failed once there are too many failures. After environment_lost all environments
  /// are reset.
  env_step step(env_actions actions);

  /// See vector_environment.
  void set_level(std::size_t level);
  void set_options(const std::string& json) { environments_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) {
    environments_->set_attr(name, json);
  }
  /// Deals the list of tasks to `replicas` replicas: the first task goes to replica 0, the second
  /// to replica 1, and so on in turn. This replica keeps its own tasks; see
  /// vector_environment::set_turns.
  void set_turns(std::vector<std::size_t> turns, std::size_t replicas);
  /// Returns the episodes that have ended since the last call, at most the newest graded_max. The
  /// list is empty for environments without levels and tasks.
  std::vector<graded_episode> take_graded() { return std::exchange(graded_, {}); }
  static constexpr std::size_t graded_max = 65'536;

  /// Returns the state for a checkpoint. If the environments can't be saved, it doesn't contain
  /// them, and after a restore they are reset with this replica's own seed.
  std::string save();
  /// Throws state_error unless the bytes are the state of the same number of equal environments.
  void restore(std::string bytes);

 private:
  env_reset try_reset(std::optional<std::uint64_t> seed);
  env_step try_step(env_actions actions);
  /// Reports the episodes that were lost with the environments' process, and throws `fatal`, so
  /// that the service restarts this replica.
  [[noreturn]] void end_with(const environment_process_lost& error);
  void report(const std::vector<env_failure>& failures) const;
  void require_some_success(const env_step& after);
  void discount(env_step& after);
  void grade(const env_step& after);

  std::unique_ptr<vector_environment> environments_;
  std::optional<std::uint64_t> seed_;  ///< The seed of the first reset.
  env_observers observers_;
  std::optional<std::vector<float>> obs_;  ///< [B, D]; nullopt before a reset.
  std::optional<discounted_returns> returns_;
  std::int64_t failures_ = 0;  ///< The number of failures since an episode ended.
  std::size_t index_;          ///< The index of this replica.
  bool grades_;
  std::vector<graded_episode> graded_;
};

}  // namespace troupe
