#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/episode.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/loops/lost_replicas.hpp"
#include "algorithms/on_policy/turns.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {

namespace {

/// The session is exclusive, because otherwise steps of other rollouts would come between.
constexpr session_options alone{.exclusive = true};
/// A rollout that holds other groups waits no longer for one in place of a lost one. Otherwise two
/// rollouts could wait for each other's groups for ever.
constexpr auto replacement_limit = std::chrono::seconds(10);

/// The environments of one replica. Among those of the rollout they begin at index `first`.
struct env_group {
  session<hosted_environment> where;
  recycled_vector<float> obs;     ///< [environments, D] the present observations
  std::int64_t environments = 0;  ///< How many they are.
  std::int64_t first = 0;
  bool begun = false;  ///< True if the environments were just reset, so that `obs` is new.
};

task<env_group> begin_group(session<hosted_environment> where) {
  auto seen = co_await where.route<&hosted_environment::observe>();
  co_return env_group{std::move(where), std::move(seen.rows), seen.environments, 0, seen.begun};
}

task<env_group> open_group(rollout_roles roles) {
  loops::lost_replicas lost;
  for (;;) {
    try {
      auto where = co_await roles.environments.session(alone);
      co_return co_await begin_group(std::move(where));
    } catch (const call_error& e) {
      lost.add(e);
    }
  }
}

/// Opens a group in place of a lost one, while the rollout holds others.
task<env_group> open_replacement(rollout_roles roles) {
  if (roles.groups == 1) return open_group(std::move(roles));
  return with_timeout(open_group(std::move(roles)), replacement_limit);
}

/// Opens all groups of a rollout, or holds none while it waits for them.
task<std::vector<env_group>> hold_groups(rollout_roles roles) {
  auto held = co_await roles.environments.sessions(roles.groups);
  std::vector<env_group> groups;
  for (auto& where : held) {
    auto group = co_await begin_group(std::move(where));
    groups.push_back(std::move(group));
  }
  co_return groups;
}

task<std::vector<env_group>> open_groups(rollout_roles roles) {
  std::vector<env_group> groups;
  loops::lost_replicas lost;
  while (groups.empty()) {
    try {
      groups = co_await hold_groups(roles);
    } catch (const call_error& e) {
      lost.add(e);
    }
  }
  std::ranges::sort(groups, {}, [](const env_group& g) { return g.where.replica(); });
  std::int64_t first = 0;
  for (auto& group : groups) group.first = std::exchange(first, first + group.environments);
  co_return groups;
}

/// Normalises the observations of groups that have just been opened. The observations of new
/// episodes are added to the statistics first.
void normalize(rollout_normalizer& by, std::span<env_group> groups) {
  for (const auto& group : groups) {
    if (group.begun) by.add_begun(group.obs);
  }
  for (auto& group : groups) by.normalize(group.obs);
}

/// Makes the rows of group `index`. In each of its turns it stores the results of its last step and
/// asks the policy for actions; between turns its environments step.
task<> take_steps(rollout_roles roles, std::vector<env_group>& groups, std::size_t index,
                  rollout& made, rollout_normalizer* normalizer, turns& turn) {
  auto& mine = groups[index];
  act_reply acted;
  std::optional<env_step> after;
  std::uint64_t noise_seed = 0;
  loops::lost_replicas lost;
  for (std::int64_t t = 0;;) {
    while (!turn.is_of(index)) co_await turn.passed();
    if (after) {
      if (normalizer) normalizer->take_step(*after);
      made.add(t++, mine.obs, acted, *after, mine.first);
      mine.obs = std::move(after->obs);
      lost.reset();
    }
    if (t == roles.n_steps) break;
    if (roles.sde_sample_freq > 0 && t % roles.sde_sample_freq == 0) noise_seed = 0;
    act_request request{mine.obs, roles.deterministic, noise_seed, normalizer != nullptr};
    acted = co_await roles.policies.route<&policy::act>(std::move(request));
    noise_seed = acted.noise_seed;
    turn.pass();
    env_actions actions{acted.discrete, acted.continuous};
    roles.choices.to_environment(actions.discrete);
    after.reset();
    try {
      after = co_await mine.where.route<&hosted_environment::step>(std::move(actions));
    } catch (const call_error& e) {
      lost.add(e);
    }
    if (after) continue;
    made.lose_environments(t, mine.first, mine.environments);
    auto other = co_await open_replacement(roles);
    if (normalizer) normalize(*normalizer, {&other, 1});
    mine.where = std::move(other.where);
    mine.obs = std::move(other.obs);
  }
  turn.leave();  // a group that has lost a step needs more turns than the others
}

}  // namespace

task<rollout> generate_rollout(rollout_roles roles) {
  auto groups = co_await open_groups(roles);
  rollout made(roles.n_steps, groups.back().first + groups.back().environments);
  std::optional<rollout_normalizer> normalizer;
  if (roles.normalizer) {
    const auto replica = static_cast<std::int64_t>(groups.front().where.replica());
    normalizer = roles.normalizer->begin(replica);
    normalize(*normalizer, groups);
  }
  turns turn(groups.size());
  std::vector<task<>> side_by_side;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto* by = normalizer ? &*normalizer : nullptr;
    side_by_side.push_back(take_steps(roles, groups, i, made, by, turn));
  }
  co_await all(std::move(side_by_side));
  for (const auto& group : groups) {
    made.bootstrap_obs.insert(made.bootstrap_obs.end(), group.obs.begin(), group.obs.end());
  }
  if (!made.cuts.empty()) {
    made.final_value =
        co_await roles.policies.route<&policy::values>(made.final_obs, normalizer.has_value());
  }
  made.bootstrap_value =
      co_await roles.policies.route<&policy::values>(made.bootstrap_obs, normalizer.has_value());
  if (normalizer) made.seen = roles.normalizer->end(*normalizer);
  co_return made;
}

}  // namespace troupe
