#pragma once
// Who is killed: an environment, a policy and a reward, each replica in a process of its own, or on
// nodes. And what each of their answers has to be.

#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/environments/vector_environment.hpp"
#include "actors/policy/policy.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "runtime/system/system.hpp"

namespace troupe::chaos {

/// Where a replica lives.
struct whereabouts {
  std::size_t index = 0, generation = 0;
  std::int64_t pid = 0;
};

/// A role that also says where it lives.
template <class Role>
class located : public Role {
 public:
  template <class... A>
    requires std::constructible_from<Role, const replica_info&, const A&...>
  explicit located(const replica_info& info, const A&... arguments)
      : Role(info, arguments...), info_(info) {}
  template <class... A>
    requires(!std::constructible_from<Role, const replica_info&, const A&...>)
  explicit located(const replica_info& info, const A&... arguments)
      : Role(arguments...), info_(info) {}

  whereabouts where() const { return {info_.index, info_.generation, getpid()}; }

 private:
  replica_info info_;
};

/// CartPole-v1, an episode for each of its callers.
class episodes {
 public:
  struct look {
    std::vector<float> obs;
    bool over = false;
    double episode_return = 0;  ///< so far
  };

  /// The return of an episode begun from `seed` whose actions come from it, too. Idempotent.
  double play(std::uint64_t seed) const;

  /// Begins such an episode, to be stepped by its caller, and gives its number.
  std::int64_t begin(std::uint64_t seed);
  look step(std::int64_t number, std::int64_t action);

 private:
  struct episode {
    std::unique_ptr<vector_environment> environment;
    double episode_return = 0;
  };
  std::map<std::int64_t, episode> under_way_;
  std::int64_t last_ = 0;
};

/// The actions of an episode.
class action_draw {
 public:
  explicit action_draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t next() { return static_cast<std::int64_t>(random_.next() & 1); }

 private:
  action_random random_;
};

struct completion {
  std::string text, expected;
};

/// Keeps its thread for as long as it is told.
class worker {
 public:
  int work(int milliseconds);
};

using environment_role = located<episodes>;
using policy_role = located<policy>;
using reward_role = located<weighted_reward<completion>>;

/// A policy of 18 KB, and its weights of a version: drawn from that number.
policy_options small_policy();
weights weights_of(std::int64_t version);

/// The services, and the store of the policy's weights.
struct roles {
  service<weight_store> store;
  service<environment_role> environments;
  service<policy_role> policies;
  service<reward_role> rewards;
  std::optional<service<worker>> workers;  ///< On nodes alone, whose threads they fill.
};

struct role_options {
  std::size_t replicas = 2;  ///< Of each service.
  placement where = placement::process;
};
task<roles> serve_roles(system& sys, role_options options);

}  // namespace troupe::chaos
