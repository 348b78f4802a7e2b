#include "algorithms/on_policy/rollout_writer.hpp"

#include <algorithm>

namespace troupe {

rollout_writer::rollout_writer(const agent_rows& rows, std::int64_t steps,
                               std::int64_t environments, rollout_writer_options options)
    : rows_(rows), steps_(steps), environments_(environments), options_(options) {
  made_.steps = steps;
  made_.environments = environments;
  for (std::size_t policy = 0; policy < rows.policies(); ++policy) {
    const auto columns = static_cast<std::size_t>(environments) * rows.agents_of(policy).size();
    const auto count = static_cast<std::size_t>(steps) * columns;
    columns_.emplace_back(columns);
    auto& one = made_.policies.emplace_back();
    one.steps = steps;
    one.columns = static_cast<std::int64_t>(columns);
    one.valid.assign(count, 1);
    if (options.joint_actions) one.acting.step.assign(count, -1);
  }
}

double rollout_writer::reward_of(std::size_t environment, std::size_t agent, std::size_t policy,
                                 const env_step& after) const {
  // A single policy may control all agents of an environment: then their mean reward is its own.
  if (rows_.is_single()) return after.reward[environment];
  const auto agents = rows_.agents().size();
  const auto rewards = std::span(after.agent_reward).subspan(environment * agents, agents);
  const auto& sharing = options_.sharing;
  const double own = rewards[agent];
  if (sharing.weight == 0) return own;
  double team = after.reward[environment];  // the mean of all
  if (sharing.team == reward_team::policy) {
    const auto& members = rows_.agents_of(policy);
    team = 0;
    for (const auto member : members) team += rewards[member];
    team /= static_cast<double>(members.size());
  }
  return (1 - sharing.weight) * own + sharing.weight * team;
}

/// Returns how the agent's episode ended with this step.
episode_end rollout_writer::end_of(std::size_t environment, std::size_t agent,
                                   const env_step& after) const {
  auto end = after.terminated[environment] != 0  ? episode_end::terminated
             : after.truncated[environment] != 0 ? episode_end::truncated
                                                 : episode_end::none;
  if (!rows_.is_single()) {
    const auto agents = rows_.agents().size();
    end = static_cast<episode_end>(after.agent_ended[environment * agents + agent]);
  }
  const bool ends = options_.limits_end && end == episode_end::truncated;
  return ends ? episode_end::terminated : end;
}

/// The row of an environment after its last step, also if it has begun another episode since.
std::span<const float> rollout_writer::last_row_of(std::size_t environment,
                                                   const present_step& now) const {
  if (ended_[environment]) return now.after.finished[finished_[environment]].final_obs;
  return now.next.joint(environment);
}

/// Appends what a truncated agent saw last, from which its value is to be computed. `next` is the
/// step that would have followed, in which it acts or not.
void rollout_writer::cut(std::int64_t next, std::size_t policy, std::size_t index,
                         std::span<const float> own, bool acts) {
  auto& of = made_.policies[policy];
  of.final_obs.insert(of.final_obs.end(), own.begin(), own.end());
  of.cuts.push_back({columns_[policy][index].length - 1, static_cast<std::int64_t>(index)});
  if (!options_.joint_actions) return;
  of.acting.final_step.push_back(next);
  of.acting.final_acts.push_back(acts);
}

/// Removes the cuts of an agent from row `from` on, with what it saw last.
void rollout_writer::drop_cuts(std::size_t policy, std::size_t index, std::int64_t from) {
  auto& of = made_.policies[policy];
  const auto width = static_cast<std::ptrdiff_t>(rows_.shape_of_policy(policy).obs_size);
  for (std::size_t i = of.cuts.size(); i-- > 0;) {
    if (!std::cmp_equal(of.cuts[i].index, index) || of.cuts[i].step < from) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    of.cuts.erase(of.cuts.begin() + at);
    const auto seen = of.final_obs.begin() + at * width;
    of.final_obs.erase(seen, seen + width);
    if (!options_.joint_actions) continue;
    of.acting.final_step.erase(of.acting.final_step.begin() + at);
    of.acting.final_acts.erase(of.acting.final_acts.begin() + at);
  }
}

/// Marks the rows of the episode under way as invalid, and the last one as terminated, so that no
/// advantage is computed across its end.
void rollout_writer::drop(std::size_t policy, std::size_t index) {
  auto& of = made_.policies[policy];
  auto& which = columns_[policy][index];
  const auto columns = static_cast<std::size_t>(of.columns);
  for (auto t = which.began; t < which.length; ++t) {
    of.valid[static_cast<std::size_t>(t) * columns + index] = 0;
  }
  if (which.length > which.began) {
    of.terminated[static_cast<std::size_t>(which.length - 1) * columns + index] = 1;
    drop_cuts(policy, index, which.began);
  }
  which.began = which.length;
  which.left = which.ended = false;
}

void rollout_writer::add(std::int64_t t, std::int64_t first, const policy_rows& before,
                         std::span<const act_reply> acted, const env_step& after,
                         const policy_rows& next) {
  for (const auto& reply : acted) {
    made_.version = begun_ ? std::min(made_.version, reply.version) : reply.version;
    made_.last_version = std::max(made_.last_version, reply.version);
    begun_ = true;
  }
  const auto environments = after.reward.size();
  failed_.assign(environments, 0);
  ended_.assign(environments, 0);
  finished_.resize(environments);
  for (const auto& one : after.failures) {
    made_.failure = one.id + ": " + one.message;
    if (!one.at_reset) failed_[one.index] = 1;
  }
  for (std::size_t i = 0; i < after.finished.size(); ++i) {
    const auto& one = after.finished[i];
    ended_[one.index] = 1;
    finished_[one.index] = i;
    made_.episodes.push_back({t, one.episode_return, one.length,
                              first + static_cast<std::int64_t>(one.index), one.info,
                              one.agent_returns});
  }
  const present_step now{t, static_cast<std::size_t>(first), before, after, next};
  for (std::size_t policy = 0; policy < acted.size(); ++policy) {
    add_policy(now, policy, acted[policy]);
  }
}

/// Makes room for so many rows of each column.
void rollout_writer::grow(policy_rollout& to, std::size_t policy, std::int64_t steps) {
  const auto rows = static_cast<std::size_t>(steps * to.columns);
  if (to.reward.size() >= rows) return;
  const auto& shape = rows_.shape_of_policy(policy);
  const auto resize = [&](auto& column, int width) {
    const auto each = static_cast<std::size_t>(width);
    if (column.capacity() == 0) {
      column.reserve(static_cast<std::size_t>(steps_ * to.columns) * each);
    }
    column.resize(rows * each);
  };
  resize(to.obs, shape.obs_size);
  resize(to.discrete, shape.choice_count());
  resize(to.continuous, shape.continuous_size);
  resize(to.log_prob, 1);
  resize(to.value, 1);
  resize(to.reward, 1);
  resize(to.terminated, 1);
  resize(to.truncated, 1);
}

/// Copies `count` rows of a policy, from row `from` of its answer to row `row` of the rollout.
void rollout_writer::copy_rows(std::size_t policy, std::size_t row, std::size_t from,
                               std::size_t count, std::span<const float> obs,
                               const act_reply& acted) {
  auto& of = made_.policies[policy];
  const auto& shape = rows_.shape_of_policy(policy);
  const auto copy = [&](auto& to, const auto& rows, int width) {
    const auto each = static_cast<std::size_t>(width);
    std::copy_n(rows.data() + from * each, count * each, to.data() + row * each);
  };
  copy(of.obs, obs, shape.obs_size);
  copy(of.discrete, acted.discrete, shape.choice_count());
  copy(of.continuous, acted.continuous, shape.continuous_size);
  copy(of.log_prob, acted.log_prob, 1);
  copy(of.value, acted.value, 1);
}

void rollout_writer::add_policy(const present_step& now, std::size_t policy,
                                const act_reply& acted) {
  auto& of = made_.policies[policy];
  grow(of, policy, now.t + 1);
  const auto members = rows_.agents_of(policy).size();
  const auto count = now.after.reward.size() * members;
  const auto obs = now.before.of(policy);
  const auto acts = now.before.acts(policy);
  // Where every agent acts in every step, the step's rows lie side by side.
  const bool at_once = rows_.always_act(policy);
  const auto columns = static_cast<std::size_t>(of.columns), t = static_cast<std::size_t>(now.t);
  if (at_once) copy_rows(policy, t * columns + now.first * members, 0, count, obs, acted);
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = now.first * members + i;
    auto& mine = columns_[policy][index];
    if (acts[i] && (mine.ended || mine.left)) begin_again(policy, index);
    if (acts[i] || mine.left) {
      const auto row = static_cast<std::size_t>(mine.length++) * columns + index;
      if (!at_once) copy_rows(policy, row, i, 1, obs, acted);
      if (options_.joint_actions) of.acting.step[row] = now.t;
      if (mine.left) note_after_end(policy, row);
    }
    if (failed_[i / members]) {
      drop(policy, index);
    } else {
      add_results(now, policy, index);
    }
  }
}

/// Adds the agent's reward to its last row, and ends its part of the episode where it has ended.
void rollout_writer::add_results(const present_step& now, std::size_t policy, std::size_t index) {
  auto& of = made_.policies[policy];
  auto& mine = columns_[policy][index];
  const auto& members = rows_.agents_of(policy);
  const auto agent = members[index % members.size()];
  const auto world = index / members.size() - now.first;
  if (mine.length > mine.began && !mine.ended) {
    const auto row = static_cast<std::size_t>((mine.length - 1) * of.columns) + index;
    of.reward[row] += static_cast<float>(reward_of(world, agent, policy, now.after));
    // After its own end an agent's part lasts until the episode has ended for all.
    const auto end = end_of(world, agent, now.after);
    const bool leaves = end == episode_end::terminated && shares_after_end();
    mine.left = mine.left || leaves;
    const bool over = mine.left ? ended_[world] : end != episode_end::none || ended_[world];
    const bool team_is_cut =
        !options_.limits_end && now.after.truncated[world] != 0 && now.after.terminated[world] == 0;
    const bool is_cut = mine.left ? over && team_is_cut : end == episode_end::truncated;
    if (is_cut) {
      of.truncated[row] = 1;
      const auto last = last_row_of(world, now);
      const auto rows = now.next.rows_of(policy, last);
      const auto width = rows.size() / members.size();
      const auto own = std::span(rows).subspan(index % members.size() * width, width);
      const bool acts_next =
          !mine.left &&
          would_act_next(rows_.agents(), agent, now.before.joint(world).data(), last.data());
      cut(now.t + 1, policy, index, own, acts_next);
    } else if (over) {
      of.terminated[row] = 1;
    }
    mine.ended = over;
  }
  if (ended_[world]) {
    mine.began = mine.length;
    mine.left = mine.ended = false;
  }
}

/// Begins another episode of an agent that had ended before its environment's episode.
void rollout_writer::begin_again(std::size_t policy, std::size_t index) {
  auto& of = made_.policies[policy];
  auto& mine = columns_[policy][index];
  if (!mine.ended && mine.length > mine.began) {
    of.terminated[static_cast<std::size_t>((mine.length - 1) * of.columns) + index] = 1;
  }
  mine.began = mine.length;
  mine.left = mine.ended = false;
}

bool rollout_writer::shares_after_end() const {
  return options_.sharing.weight > 0 && options_.sharing.after_end;
}

void rollout_writer::note_after_end(std::size_t policy, std::size_t row) {
  if (made_.policies[policy].after_end.empty()) {
    for (auto& of : made_.policies) of.after_end.resize(of.valid.size());
  }
  made_.policies[policy].after_end[row] = 1;
}

void rollout_writer::lose_environments(std::int64_t first, std::int64_t count) {
  ++made_.losses;
  for (std::size_t policy = 0; policy < columns_.size(); ++policy) {
    const auto members = rows_.agents_of(policy).size();
    const auto begin = static_cast<std::size_t>(first) * members;
    const auto end = begin + static_cast<std::size_t>(count) * members;
    for (auto index = begin; index < end; ++index) drop(policy, index);
  }
}

/// Ends an agent's column. `own` [D] is what it sees last, when it acts next or not.
void rollout_writer::end_column(std::size_t policy, std::size_t index, std::span<const float> own,
                                bool acts) {
  auto& of = made_.policies[policy];
  const auto& mine = columns_[policy][index];
  const auto columns = columns_[policy].size();
  const bool waits = mine.length > mine.began && !mine.ended;
  const bool goes_on = acts || mine.left;
  if (waits && !(goes_on && mine.length == steps_)) {
    // The agent's last step is complete only if it is the agent's turn again.
    const auto row = static_cast<std::size_t>(mine.length - 1) * columns + index;
    if (goes_on) {
      of.truncated[row] = 1;
      cut(steps_, policy, index, own, acts);
    } else {
      of.valid[row] = 0;
      of.terminated[row] = 1;
    }
  }
  for (auto t = mine.length; t < steps_; ++t) {
    of.valid[static_cast<std::size_t>(t) * columns + index] = 0;
  }
  of.bootstrap_obs.insert(of.bootstrap_obs.end(), own.begin(), own.end());
}

rollout rollout_writer::finish(std::span<const policy_rows> last) {
  for (std::size_t policy = 0; policy < columns_.size(); ++policy) {
    auto& of = made_.policies[policy];
    const auto& shape = rows_.shape_of_policy(policy);
    const auto width = static_cast<std::size_t>(shape.obs_size);
    const auto choices = static_cast<std::size_t>(shape.choice_count());
    of.bootstrap_obs.reserve(columns_[policy].size() * width);
    if (options_.joint_actions) {
      of.acting.bootstrap_choice.reserve(columns_[policy].size() * choices);
    }
    std::size_t index = 0;
    for (const auto& group : last) {
      const auto rows = group.of(policy);
      const auto acts = group.acts(policy);
      for (std::size_t i = 0; i < acts.size(); ++i, ++index) {
        end_column(policy, index, rows.subspan(i * width, width), acts[i] != 0);
        if (!options_.joint_actions) continue;
        auto& next = of.acting.bootstrap_choice;
        next.insert(next.end(), choices, acts[i] ? 0 : -1);
      }
    }
    if (options_.joint_actions) of.acting.final_choice.resize(of.cuts.size() * choices);
  }
  return std::move(made_);
}

}  // namespace troupe
