#pragma once
// The policy role: it answers observations with actions, by the newest weights of the weight store.
// Collectors call it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/scripted_policy.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/policy/noise_matrices.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/base/recycled_vector.hpp"
#include "runtime/service/options/batch.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// A request for the actions of N observations.
struct act_request {
  recycled_vector<float> obs;  ///< [N, D]
  /// Takes the likeliest actions instead of drawing them.
  bool deterministic = false;
  /// Used with use_sde: the seed of the exploration noise. The `noise_seed` of an earlier reply
  /// keeps that noise; 0 draws new noise.
  std::uint64_t noise_seed = 0;
  bool normalized = false;  ///< Used with normalize_obs: obs are already normalised.
};

/// The actions, and the version of the weights that chose them.
struct act_reply {
  /// [N, P] choices from 0 on, in the order of network_shape::choices, or empty. choice_map makes
  /// them the integers of an environment's action.
  recycled_vector<std::int64_t> discrete;
  recycled_vector<float> continuous;  ///< [N, A], not clipped, or empty
  recycled_vector<float> log_prob;    ///< [N]
  recycled_vector<float> value;       ///< [N]
  std::int64_t version = 0;
  /// Set with use_sde: the seed of the noise that was used; 0 means none.
  std::uint64_t noise_seed = 0;
};

struct policy_options {
  network_shape shape;
  network_options network;
  /// The seed of the action draws. Each replica derives a stream of its own from it.
  std::uint64_t seed = 0;
  /// The first of the weights' parameters that are this network's. Behind them may be those of
  /// other policies, if the weights are those of several; then `of_several` is true.
  std::int64_t first_parameter = 0;
  bool of_several = false;
  /// The scripted policy that acts in place of the network, and where an agent's observation and
  /// action mask are in a row.
  std::optional<scripted_policy_request> script = {};
  std::int64_t own_obs = 0;  ///< With a script, the number of floats of the agent's observation.
  std::string stream = "policy";  ///< The name of the stream of random numbers.
};

/// The role that acts. It has weights of one version, and exchanges them between two batches
/// without draining.
class policy {
 public:
  policy(const replica_info& info, policy_options options, service<weight_store> store);

  /// Loads the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Returns the actions of each request. Concurrent requests become one forward pass. A request
  /// gets an error of its own unless its observations are whole rows of D finite floats.
  batch<act_reply> act(batch<act_request> requests);
  /// Returns V(obs) [N] of obs [N, D]. `normalized` is as in act_request.
  std::vector<float> values(std::vector<float> obs, bool normalized);

  /// Loads weights that are newer than those in use, and ignores others.
  void update(weights fresh);
  /// Returns the version of the weights in use; -1 before the first ones.
  std::int64_t version() const { return version_; }

  /// Returns the state of the random generator for a checkpoint. The weight store saves the
  /// weights.
  std::string save() const;
  /// Continues from the bytes that `save` returned. Throws state_error.
  void restore(std::string bytes);

 private:
  /// Returns the seed of the noise that the request's rows explore with; 0 means no noise.
  std::uint64_t choose_noise(const act_request& request);
  /// Returns the number of rows in `obs`. Throws std::invalid_argument unless these are whole rows
  /// of finite floats.
  int rows_of(std::span<const float> obs) const;
  /// The properties that requests must share for one forward pass.
  struct kind {
    bool deterministic;
    bool normalized;
    bool is_of(const act_request& request) const {
      return request.deterministic == deterministic && request.normalized == normalized;
    }
  };
  void act_rows(std::span<const float> obs, int rows, kind how, act_reply& reply);
  void follow_script(std::span<const float> obs, act_reply& reply);

  policy_options options_;
  service<weight_store> store_;
  actor_critic network_;
  action_random random_;
  std::int64_t version_ = -1;
  detail::noise_matrices matrices_;
  std::unique_ptr<scripted_policy> script_;  // null unless the policy is scripted
  // The noise of each row of a forward pass; used with use_sde.
  std::vector<const float*> noise_;
};

}  // namespace troupe
