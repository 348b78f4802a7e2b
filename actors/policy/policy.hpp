#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/policy/noise_matrices.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/base/recycled_vector.hpp"
#include "runtime/service/options/batch.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// N observations for which somebody wants actions.
struct act_request {
  recycled_vector<float> obs;  ///< [N, D]
  bool deterministic = false;
  /// With use_sde, whose noise each row explores by: that of an earlier reply, where it is to stay;
  /// 0: other noise is drawn.
  std::uint64_t noise_seed = 0;
  bool normalized = false;  ///< With normalize_obs: the caller has normalised them.
};

/// The actions, and the version of the weights that chose them.
struct act_reply {
  recycled_vector<std::int64_t> discrete;  ///< [N, choices], or empty
  recycled_vector<float> continuous;       ///< [N, A] not clipped, or empty
  recycled_vector<float> log_prob;         ///< [N]
  recycled_vector<float> value;            ///< [N]
  std::int64_t version = 0;
  std::uint64_t noise_seed = 0;  ///< with use_sde, of the noise that was explored by
};

struct policy_options {
  network_shape shape;
  network_options network;
  std::uint64_t seed = 0;  ///< Of the action draws; each replica has a stream of its own.
};

/// The role that acts: weights of one version, exchanged between two batches without draining.
class policy {
 public:
  policy(const replica_info& info, policy_options options, service<weight_store> store);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Actions for each request; concurrent requests become one forward pass. A request whose
  /// observations are no whole rows of D finite floats gets an error of its own.
  batch<act_reply> act(batch<act_request> requests);
  /// V(obs) [N] of obs [N, D]. `normalized`: as in act_request.
  std::vector<float> values(std::vector<float> obs, bool normalized);

  /// Swaps in newer weights; older ones than those in use are ignored.
  void update(weights fresh);
  std::int64_t version() const { return version_; }

  /// Its generator, for checkpoints; the weights are the store's.
  std::string save() const;
  /// Throws state_error.
  void restore(std::string bytes);

 private:
  /// The seed of the noise that its rows explore by, 0 where there is none.
  std::uint64_t choose_noise(const act_request& request);
  /// Rows in `obs`; throws std::invalid_argument if they are no whole number or not finite.
  int rows_of(std::span<const float> obs) const;
  /// What requests must have in common for one forward pass.
  struct kind {
    bool deterministic;
    bool normalized;
    bool is_of(const act_request& request) const {
      return request.deterministic == deterministic && request.normalized == normalized;
    }
  };
  void act_rows(std::span<const float> obs, int rows, kind how, act_reply& reply);

  policy_options options_;
  service<weight_store> store_;
  actor_critic network_;
  action_random random_;
  std::int64_t version_ = -1;
  detail::noise_matrices matrices_;
  std::vector<const float*> noise_;  // of each row of a forward pass, with use_sde
};

}  // namespace troupe
