#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/joint_episode.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "algorithms/loops/lost_replicas.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {

namespace {

/// The session is exclusive, because otherwise steps of other rollouts would come between.
constexpr session_options alone{.exclusive = true};

/// The environments of one replica and what they show.
struct open_environments {
  session<hosted_environment> where;
  recycled_vector<float> obs;  ///< [B, D]
  std::int64_t count = 0;      ///< B
};

task<open_environments> open(joint_rollout_roles roles) {
  loops::lost_replicas lost;
  for (;;) {
    try {
      auto where = co_await roles.environments.session(alone);
      auto seen = co_await where.route<&hosted_environment::observe>();
      co_return open_environments{std::move(where), std::move(seen.rows), seen.environments};
    } catch (const call_error& e) {
      lost.add(e);
    }
  }
}

task<act_reply> ask(service<policy> whom, act_request request) {
  auto reply = co_await whom.route<&policy::act>(std::move(request));
  co_return reply;
}

task<> ask_for(service<policy> whom, act_request request, act_reply& reply) {
  reply = co_await ask(std::move(whom), std::move(request));
}

task<> ask_each(group& asked, const joint_rollout_roles& roles, const joint_rollout_writer& writer,
                const recycled_vector<float>& obs, std::vector<act_reply>& replies) {
  for (std::size_t i = 0; i < roles.policies.size(); ++i) {
    act_request request{.obs = writer.rows_of(i, obs), .deterministic = roles.deterministic};
    asked.start(ask_for(roles.policies[i], std::move(request), replies[i]));
  }
  co_await asked.join();
}

/// Asks all policies at once. A group makes no lists in each step, which `all` would.
task<> ask_all(const joint_rollout_roles& roles, const joint_rollout_writer& writer,
               const recycled_vector<float>& obs, std::vector<act_reply>& replies) {
  return with_group(ask_each, std::cref(roles), std::cref(writer), std::cref(obs),
                    std::ref(replies));
}

env_actions actions_of(const joint_rollout_roles& roles, const std::vector<act_reply>& acted,
                       std::int64_t environments) {
  const auto count = static_cast<std::size_t>(environments);
  env_actions actions;
  actions.discrete.resize(count * static_cast<std::size_t>(roles.shape.choice_count()));
  actions.continuous.resize(count * static_cast<std::size_t>(roles.shape.continuous_size));
  for (std::size_t i = 0; i < acted.size(); ++i) {
    roles.rows->scatter(i, acted[i].discrete, acted[i].continuous, actions.discrete,
                        actions.continuous);
  }
  return actions;
}

/// Fills in the values of what each policy's agents saw last.
task<> add_values(const joint_rollout_roles& roles, joint_rollout& made) {
  for (std::size_t i = 0; i < made.of_policy.size(); ++i) {
    auto& of = made.of_policy[i];
    if (!of.cuts.empty()) {
      of.final_value = co_await roles.policies[i].route<&policy::values>(of.final_obs, false);
    }
    of.bootstrap_value = co_await roles.policies[i].route<&policy::values>(of.bootstrap_obs, false);
  }
}

/// Fills in the values of what each policy's agents saw last, and what they would do then.
task<> add_next_choices(const joint_rollout_roles& roles, joint_rollout& made) {
  for (std::size_t i = 0; i < made.of_policy.size(); ++i) {
    auto& of = made.of_policy[i];
    auto& next = made.acting[i];
    if (!of.cuts.empty()) {
      act_request finals{.obs = {of.final_obs.begin(), of.final_obs.end()},
                         .deterministic = roles.deterministic};
      const auto reply = co_await ask(roles.policies[i], std::move(finals));
      of.final_value.assign(reply.value.begin(), reply.value.end());
      next.final_choice.assign(reply.discrete.begin(), reply.discrete.end());
    }
    act_request bootstrap{.obs = {of.bootstrap_obs.begin(), of.bootstrap_obs.end()},
                          .deterministic = roles.deterministic};
    const auto reply = co_await ask(roles.policies[i], std::move(bootstrap));
    of.bootstrap_value.assign(reply.value.begin(), reply.value.end());
    for (std::size_t j = 0; j < reply.discrete.size(); ++j) {
      if (next.bootstrap_choice[j] >= 0) next.bootstrap_choice[j] = reply.discrete[j];
    }
  }
}

}  // namespace

task<joint_rollout> generate_joint_rollout(joint_rollout_roles roles) {
  auto mine = co_await open(roles);
  joint_rollout_writer writer(*roles.rows, roles.shape.agents.size(), roles.n_steps, mine.count,
                              roles.sharing, roles.joint_actions, roles.limits_end);
  std::vector<act_reply> acted(roles.policies.size());
  loops::lost_replicas lost;
  for (std::int64_t t = 0; t < roles.n_steps;) {
    co_await ask_all(roles, writer, mine.obs, acted);
    std::optional<env_step> after;
    try {
      auto actions = actions_of(roles, acted, mine.count);
      after = co_await mine.where.route<&hosted_environment::step>(std::move(actions));
    } catch (const call_error& e) {
      lost.add(e);
    }
    if (after) {
      writer.add(t++, mine.obs, acted, *after);
      mine.obs = std::move(after->obs);
      lost.reset();
      continue;
    }
    writer.lose_environments();
    mine = co_await open(roles);
  }
  auto made = writer.finish(mine.obs);
  if (roles.joint_actions) {
    co_await add_next_choices(roles, made);
  } else {
    co_await add_values(roles, made);
  }
  co_return made;
}

}  // namespace troupe
