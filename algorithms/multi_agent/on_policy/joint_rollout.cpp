#include "algorithms/multi_agent/on_policy/joint_rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace troupe {

namespace {

void check_acting(const joint_rollout& r, const network_shape& shape) {
  bool fits = r.acting.size() == r.of_policy.size();
  for (std::size_t i = 0; fits && i < r.acting.size(); ++i) {
    const auto& of = r.of_policy[i];
    const auto& when = r.acting[i];
    const auto choices = static_cast<std::size_t>(shape_of(shape.policies[i]).choice_count());
    const auto columns = static_cast<std::size_t>(of.environments);
    const auto members = std::ranges::count(shape.agents, static_cast<int>(i), &agent_view::policy);
    fits = of.steps == r.steps && of.environments == r.environments * members &&
           when.step.size() == static_cast<std::size_t>(of.steps) * columns &&
           when.final_step.size() == of.cuts.size() &&
           when.final_choice.size() == of.cuts.size() * choices &&
           when.final_acts.size() == of.cuts.size() &&
           when.bootstrap_choice.size() == columns * choices &&
           std::ranges::all_of(when.step, [&](auto t) { return t >= -1 && t < r.steps; }) &&
           std::ranges::all_of(when.final_step, [&](auto t) { return t >= 0 && t <= r.steps; });
  }
  if (fits) return;
  throw std::invalid_argument(
      "joint rollout: expected the steps and next choices of each policy's rows");
}

}  // namespace

void check(const joint_rollout& r, const network_shape& shape) {
  if (r.of_policy.size() != shape.policies.size()) {
    throw std::invalid_argument(
        fmt::format("joint rollout: expected rollouts of {} policies, got {}",
                    shape.policies.size(), r.of_policy.size()));
  }
  for (std::size_t i = 0; i < r.of_policy.size(); ++i) {
    try {
      check(r.of_policy[i], shape_of(shape.policies[i]));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("policy \"" + shape.policies[i].name + "\": " + error.what());
    }
  }
  if (!r.acting.empty()) check_acting(r, shape);
  bool fits = r.after_end.empty() || r.after_end.size() == r.of_policy.size();
  for (std::size_t i = 0; fits && i < r.after_end.size(); ++i) {
    fits = r.after_end[i].size() == r.of_policy[i].valid.size();
  }
  if (fits) return;
  throw std::invalid_argument("joint rollout: expected after_end of each policy's rows");
}

joint_rollout_writer::joint_rollout_writer(const agent_rows& rows, std::size_t agents,
                                           std::int64_t steps, std::int64_t environments,
                                           reward_sharing sharing, bool acting, bool limits_end)
    : rows_(rows),
      agents_(agents),
      steps_(steps),
      environments_(environments),
      sharing_(sharing),
      limits_end_(limits_end) {
  made_.steps = steps;
  made_.environments = environments;
  const auto worlds = static_cast<std::size_t>(environments);
  failed_.resize(worlds);
  ended_.resize(worlds);
  finished_.resize(worlds);
  for (std::size_t policy = 0; policy < rows.policies(); ++policy) {
    const auto columns = worlds * rows.agents_of(policy).size();
    const auto count = static_cast<std::size_t>(steps) * columns;
    const auto& shape = rows.shape_of_policy(policy);
    columns_.emplace_back(columns);
    auto& of = made_.of_policy.emplace_back(steps, static_cast<std::int64_t>(columns));
    of.obs.resize(count * static_cast<std::size_t>(shape.obs_size));
    of.discrete.resize(count * static_cast<std::size_t>(shape.choice_count()));
    of.continuous.resize(count * static_cast<std::size_t>(shape.continuous_size));
    of.log_prob.resize(count);
    of.value.resize(count);
    of.reward.resize(count);
    of.terminated.resize(count);
    of.truncated.resize(count);
    if (acting) made_.acting.emplace_back().step.assign(count, -1);
  }
}

recycled_vector<float> joint_rollout_writer::rows_of(std::size_t policy,
                                                     std::span<const float> joint) const {
  recycled_vector<float> rows(columns_[policy].size() *
                              static_cast<std::size_t>(rows_.shape_of_policy(policy).obs_size));
  rows_.gather(policy, joint, rows);
  return rows;
}

double joint_rollout_writer::reward_of(std::size_t environment, std::size_t agent,
                                       std::size_t policy, const env_step& after) const {
  const auto rewards = std::span(after.agent_reward).subspan(environment * agents_, agents_);
  const double own = rewards[agent];
  if (sharing_.weight == 0) return own;
  double team = after.reward[environment];  // the mean of all
  if (sharing_.team == reward_team::policy) {
    const auto& members = rows_.agents_of(policy);
    team = 0;
    for (const auto member : members) team += rewards[member];
    team /= static_cast<double>(members.size());
  }
  return (1 - sharing_.weight) * own + sharing_.weight * team;
}

/// The row of an environment after its last step, also if it has begun another episode since.
std::span<const float> joint_rollout_writer::last_row_of(std::size_t environment,
                                                         const env_step& after) const {
  if (ended_[environment]) return after.finished[finished_[environment]].final_obs;
  const auto width = after.obs.size() / static_cast<std::size_t>(environments_);
  return std::span(after.obs).subspan(environment * width, width);
}

/// Appends what a truncated agent saw last, from which its value is to be computed. `next` is the
/// step that would have followed, in which it acts or not.
void joint_rollout_writer::cut(std::int64_t next, std::size_t policy, std::size_t index,
                               std::span<const float> joint_row, bool acts) {
  auto& of = made_.of_policy[policy];
  const auto count = rows_.agents_of(policy).size();
  const auto width = static_cast<std::size_t>(rows_.shape_of_policy(policy).obs_size);
  std::vector<float> rows(count * width);
  rows_.gather(policy, joint_row, rows);
  const auto own = std::span(rows).subspan(index % count * width, width);
  of.final_obs.insert(of.final_obs.end(), own.begin(), own.end());
  of.cuts.push_back({columns_[policy][index].length - 1, static_cast<std::int64_t>(index)});
  if (made_.acting.empty()) return;
  made_.acting[policy].final_step.push_back(next);
  made_.acting[policy].final_acts.push_back(acts);
}

/// Removes the cuts of an agent from row `from` on, with what it saw last.
void joint_rollout_writer::drop_cuts(std::size_t policy, std::size_t index, std::int64_t from) {
  auto& of = made_.of_policy[policy];
  const auto width = static_cast<std::ptrdiff_t>(rows_.shape_of_policy(policy).obs_size);
  for (std::size_t i = of.cuts.size(); i-- > 0;) {
    if (!std::cmp_equal(of.cuts[i].index, index) || of.cuts[i].step < from) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    of.cuts.erase(of.cuts.begin() + at);
    const auto seen = of.final_obs.begin() + at * width;
    of.final_obs.erase(seen, seen + width);
    if (made_.acting.empty()) continue;
    auto& when = made_.acting[policy];
    when.final_step.erase(when.final_step.begin() + at);
    when.final_acts.erase(when.final_acts.begin() + at);
  }
}

/// Marks the rows of the episode under way as invalid, and the last one as terminated, so that no
/// advantage is computed across its end.
void joint_rollout_writer::drop(std::size_t policy, std::size_t index) {
  auto& of = made_.of_policy[policy];
  auto& which = columns_[policy][index];
  const auto columns = static_cast<std::size_t>(of.environments);
  for (auto t = which.began; t < which.length; ++t) {
    of.valid[static_cast<std::size_t>(t) * columns + index] = 0;
  }
  if (which.length > which.began) {
    const auto last = static_cast<std::size_t>(which.length - 1) * columns + index;
    of.terminated[last] = 1;
    drop_cuts(policy, index, which.began);
  }
  which.began = which.length;
  which.left = which.ended = false;
}

void joint_rollout_writer::add(std::int64_t t, std::span<const float> before,
                               const std::vector<act_reply>& acted, const env_step& after) {
  for (const auto& reply : acted) {
    made_.version =
        t == 0 && &reply == &acted.front() ? reply.version : std::min(made_.version, reply.version);
    made_.last_version = std::max(made_.last_version, reply.version);
  }
  std::ranges::fill(failed_, std::uint8_t{0});
  std::ranges::fill(ended_, std::uint8_t{0});
  for (const auto& one : after.failures) {
    made_.failure = one.id + ": " + one.message;
    if (!one.at_reset) failed_[one.index] = 1;
  }
  for (std::size_t i = 0; i < after.finished.size(); ++i) {
    const auto& one = after.finished[i];
    ended_[one.index] = 1;
    finished_[one.index] = i;
    made_.episodes.push_back({t, one.episode_return, one.length,
                              static_cast<std::int64_t>(one.index), one.info, one.agent_returns});
  }
  for (std::size_t policy = 0; policy < acted.size(); ++policy) {
    add_policy(t, policy, before, acted[policy], after);
  }
}

/// Adds a row to an agent's column and returns its place.
std::size_t joint_rollout_writer::add_row(std::int64_t t, std::size_t policy, std::size_t index,
                                          const recycled_vector<float>& obs,
                                          const act_reply& acted) {
  auto& of = made_.of_policy[policy];
  auto& mine = columns_[policy][index];
  const auto& shape = rows_.shape_of_policy(policy);
  const auto columns = columns_[policy].size();
  const auto row = static_cast<std::size_t>(mine.length++) * columns + index;
  const auto copy = [&](auto& to, const auto& from, std::size_t size) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(index * size), size,
                to.begin() + static_cast<std::ptrdiff_t>(row * size));
  };
  copy(of.obs, obs, static_cast<std::size_t>(shape.obs_size));
  copy(of.discrete, acted.discrete, static_cast<std::size_t>(shape.choice_count()));
  copy(of.continuous, acted.continuous, static_cast<std::size_t>(shape.continuous_size));
  copy(of.log_prob, acted.log_prob, 1);
  copy(of.value, acted.value, 1);
  if (!made_.acting.empty()) made_.acting[policy].step[row] = t;
  return row;
}

void joint_rollout_writer::add_policy(std::int64_t t, std::size_t policy,
                                      std::span<const float> before, const act_reply& acted,
                                      const env_step& after) {
  auto& of = made_.of_policy[policy];
  const auto& members = rows_.agents_of(policy);
  const auto columns = columns_[policy].size();
  const auto obs = rows_of(policy, before);
  recycled_vector<std::uint8_t> acts(columns);
  rows_.gather_active(policy, before, acts);
  for (std::size_t index = 0; index < columns; ++index) {
    auto& mine = columns_[policy][index];
    const auto world = index / members.size();
    const auto agent = members[index % members.size()];
    if (failed_[world]) {
      drop(policy, index);
      continue;
    }
    const double reward = reward_of(world, agent, policy, after);
    auto end = static_cast<episode_end>(after.agent_ended[world * agents_ + agent]);
    if (limits_end_ && end == episode_end::truncated) end = episode_end::terminated;
    if (acts[index] && (mine.ended || mine.left)) begin_again(policy, index);
    if (acts[index] || mine.left) {
      const auto row = add_row(t, policy, index, obs, acted);
      if (mine.left) note_after_end(policy, row);
    }
    if (mine.length > mine.began && !mine.ended) {
      const auto row = static_cast<std::size_t>(mine.length - 1) * columns + index;
      of.reward[row] += static_cast<float>(reward);
      // After its own end an agent's part lasts until the episode has ended for all.
      const bool leaves = end == episode_end::terminated && shares_after_end();
      mine.left = mine.left || leaves;
      const bool over = mine.left ? ended_[world] : end != episode_end::none || ended_[world];
      const bool team_is_cut =
          !limits_end_ && after.truncated[world] != 0 && after.terminated[world] == 0;
      const bool is_cut = mine.left ? over && team_is_cut : end == episode_end::truncated;
      if (is_cut) {
        of.truncated[row] = 1;
        const auto last = last_row_of(world, after);
        const auto* first = before.data() + world * last.size();
        const bool acts_next =
            !mine.left && would_act_next(rows_.agents(), agent, first, last.data());
        cut(t + 1, policy, index, last, acts_next);
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
}

/// Begins another episode of an agent that had ended before its environment's episode.
void joint_rollout_writer::begin_again(std::size_t policy, std::size_t index) {
  auto& of = made_.of_policy[policy];
  auto& mine = columns_[policy][index];
  if (!mine.ended && mine.length > mine.began) {
    const auto columns = columns_[policy].size();
    of.terminated[static_cast<std::size_t>(mine.length - 1) * columns + index] = 1;
  }
  mine.began = mine.length;
  mine.left = mine.ended = false;
}

bool joint_rollout_writer::shares_after_end() const {
  return sharing_.weight > 0 && sharing_.after_end;
}

void joint_rollout_writer::note_after_end(std::size_t policy, std::size_t row) {
  if (made_.after_end.empty()) {
    for (const auto& of : made_.of_policy) made_.after_end.emplace_back(of.valid.size());
  }
  made_.after_end[policy][row] = 1;
}

void joint_rollout_writer::lose_environments() {
  ++made_.losses;
  for (std::size_t policy = 0; policy < columns_.size(); ++policy) {
    for (std::size_t index = 0; index < columns_[policy].size(); ++index) {
      drop(policy, index);
    }
  }
}

joint_rollout joint_rollout_writer::finish(std::span<const float> last) {
  const auto width = last.size() / static_cast<std::size_t>(environments_);
  for (std::size_t policy = 0; policy < columns_.size(); ++policy) {
    auto& of = made_.of_policy[policy];
    const auto columns = columns_[policy].size();
    recycled_vector<std::uint8_t> acts(columns);
    rows_.gather_active(policy, last, acts);
    for (std::size_t index = 0; index < columns; ++index) {
      auto& mine = columns_[policy][index];
      const bool waits = mine.length > mine.began && !mine.ended;
      const bool goes_on = acts[index] || mine.left;
      if (waits && !(goes_on && mine.length == steps_)) {
        // The agent's last step is complete only if it is the agent's turn again.
        const auto row = static_cast<std::size_t>(mine.length - 1) * columns + index;
        if (goes_on) {
          of.truncated[row] = 1;
          cut(steps_, policy, index,
              last.subspan(index / rows_.agents_of(policy).size() * width, width), acts[index]);
        } else {
          of.valid[row] = 0;
          of.terminated[row] = 1;
        }
      }
      for (auto t = mine.length; t < steps_; ++t) {
        of.valid[static_cast<std::size_t>(t) * columns + index] = 0;
      }
    }
    const auto rows = rows_of(policy, last);
    of.bootstrap_obs.assign(rows.begin(), rows.end());
    of.version = made_.version;
    of.last_version = made_.last_version;
    if (made_.acting.empty()) continue;
    const auto choices = static_cast<std::size_t>(rows_.shape_of_policy(policy).choice_count());
    auto& next = made_.acting[policy];
    next.final_choice.resize(of.cuts.size() * choices);
    for (const auto active : acts) {
      next.bootstrap_choice.insert(next.bootstrap_choice.end(), choices, active ? 0 : -1);
    }
  }
  return std::move(made_);
}

}  // namespace troupe
