#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/episode.hpp"

#include <algorithm>
#include <functional>
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
  recycled_vector<float> obs;     ///< [environments, D] what they showed when they were opened
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

/// Takes what groups that have just been opened show. The observations of new episodes are added to
/// the statistics before those of all groups are normalised.
void see(std::span<env_group> groups, std::span<policy_rows> seen) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    seen[i].see(std::move(groups[i].obs));
    if (groups[i].begun) seen[i].count();
  }
  for (auto& rows : seen) rows.normalize();
}

/// True if the rows of a policy are normalised here. A policy that does not learn normalises them
/// by the statistics in its weights.
bool normalizes(const rollout_roles& roles, std::size_t policy) {
  return roles.normalizer && roles.normalizer->normalizes(policy);
}

task<> ask(service<policy> whom, act_request request, act_reply& reply) {
  reply = co_await whom.route<&policy::act>(std::move(request));
}

/// The rows of a group of which the policies are asked.
struct question {
  const rollout_roles& roles;
  const policy_rows& seen;
  bool keep_noise;  ///< The noise of the policies' last answers stays.

  act_request to(std::size_t policy, const act_reply& last) const {
    const auto rows = seen.of(policy);
    return {.obs = {rows.begin(), rows.end()},
            .deterministic = roles.deterministic,
            .noise_seed = keep_noise ? last.noise_seed : 0,
            .normalized = normalizes(roles, policy)};
  }
};

task<> ask_each(group& asked, question about, std::vector<act_reply>& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    asked.start(ask(about.roles.policies[i], about.to(i, replies[i]), replies[i]));
  }
  co_await asked.join();
}

/// Asks all policies at once. A group makes no lists in each step, which `all` would.
task<> ask_all(question about, std::vector<act_reply>& replies) {
  if (replies.size() == 1) {
    return ask(about.roles.policies[0], about.to(0, replies[0]), replies[0]);
  }
  return with_group(ask_each, about, std::ref(replies));
}

/// The environments' actions that the policies have chosen.
env_actions actions_of(const rollout_roles& roles, std::int64_t environments,
                       const std::vector<act_reply>& acted) {
  const auto count = static_cast<std::size_t>(environments);
  env_actions actions;
  actions.discrete.resize(count * roles.rows->integers());
  actions.continuous.resize(count * roles.rows->floats());
  for (std::size_t i = 0; i < acted.size(); ++i) {
    roles.rows->scatter(i, acted[i].discrete, acted[i].continuous, actions.discrete,
                        actions.continuous);
  }
  return actions;
}

/// Makes the rows of group `index`. In each of its turns it stores the results of its last step and
/// asks the policies for actions; between turns its environments step.
task<> take_steps(rollout_roles roles, env_group& mine, policy_rows& seen, std::size_t index,
                  rollout_writer& made, rollout_normalizer* normalizer, turns& turn) {
  policy_rows next(*roles.rows, normalizer);
  std::vector<act_reply> acted(roles.policies.size());
  std::optional<env_step> after;
  loops::lost_replicas lost;
  for (std::int64_t t = 0;;) {
    while (!turn.is_of(index)) co_await turn.passed();
    if (after) {
      if (normalizer) normalizer->take_rewards(*after);
      next.see(std::move(after->obs));
      next.count();
      made.add(t++, mine.first, seen, acted, *after, next);
      next.normalize();
      std::swap(seen, next);
      lost.reset();
    }
    if (t == roles.n_steps) break;
    const bool new_noise = roles.sde_sample_freq > 0 && t % roles.sde_sample_freq == 0;
    co_await ask_all({roles, seen, !new_noise}, acted);
    turn.pass();
    auto actions = actions_of(roles, mine.environments, acted);
    after.reset();
    try {
      after = co_await mine.where.route<&hosted_environment::step>(std::move(actions));
    } catch (const call_error& e) {
      lost.add(e);
    }
    if (after) continue;
    made.lose_environments(mine.first, mine.environments);
    auto other = co_await open_replacement(roles);
    see({&other, 1}, {&seen, 1});
    mine.where = std::move(other.where);
  }
  turn.leave();  // a group that has lost a step needs more turns than the others
}

/// Fills in the values of what each policy's agents saw last.
task<> add_values(rollout_roles roles, rollout& made) {
  for (std::size_t i = 0; i < made.policies.size(); ++i) {
    auto& of = made.policies[i];
    const auto& values = roles.policies[i];
    const bool normalized = normalizes(roles, i);
    if (!of.cuts.empty()) {
      of.final_value = co_await values.route<&policy::values>(of.final_obs, normalized);
    }
    of.bootstrap_value = co_await values.route<&policy::values>(of.bootstrap_obs, normalized);
  }
}

/// Fills in the values of what each policy's agents saw last, and what they would do then.
task<> add_next_choices(rollout_roles roles, rollout& made) {
  for (std::size_t i = 0; i < made.policies.size(); ++i) {
    auto& of = made.policies[i];
    auto& next = of.acting;
    const auto& whom = roles.policies[i];
    const bool normalized = normalizes(roles, i);
    if (!of.cuts.empty()) {
      act_request finals{.obs = {of.final_obs.begin(), of.final_obs.end()},
                         .deterministic = roles.deterministic,
                         .normalized = normalized};
      const auto reply = co_await whom.route<&policy::act>(std::move(finals));
      of.final_value.assign(reply.value.begin(), reply.value.end());
      next.final_choice.assign(reply.discrete.begin(), reply.discrete.end());
    }
    act_request bootstrap{.obs = {of.bootstrap_obs.begin(), of.bootstrap_obs.end()},
                          .deterministic = roles.deterministic,
                          .normalized = normalized};
    const auto reply = co_await whom.route<&policy::act>(std::move(bootstrap));
    of.bootstrap_value.assign(reply.value.begin(), reply.value.end());
    for (std::size_t j = 0; j < reply.discrete.size(); ++j) {
      if (next.bootstrap_choice[j] >= 0) next.bootstrap_choice[j] = reply.discrete[j];
    }
  }
}

}  // namespace

task<rollout> generate_rollout(rollout_roles roles) {
  auto groups = co_await open_groups(roles);
  rollout_writer writer(*roles.rows, roles.n_steps,
                        groups.back().first + groups.back().environments, roles.writing);
  std::optional<rollout_normalizer> normalizer;
  if (roles.normalizer) {
    normalizer = roles.normalizer->begin(static_cast<std::int64_t>(groups.front().where.replica()));
  }
  auto* by = normalizer ? &*normalizer : nullptr;
  std::vector<policy_rows> seen(groups.size(), policy_rows(*roles.rows, by));
  see(groups, seen);
  turns turn(groups.size());
  std::vector<task<>> side_by_side;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    side_by_side.push_back(take_steps(roles, groups[i], seen[i], i, writer, by, turn));
  }
  co_await all(std::move(side_by_side));
  auto made = writer.finish(seen);
  if (roles.writing.joint_actions) {
    co_await add_next_choices(roles, made);
  } else {
    co_await add_values(roles, made);
  }
  if (normalizer) made.seen = roles.normalizer->end(*normalizer);
  co_return made;
}

}  // namespace troupe
