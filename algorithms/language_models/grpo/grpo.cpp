#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "actors/llm/tasks/named_rewards.hpp"
#include "algorithms/language_models/grpo/sample_board.hpp"
#include "algorithms/run/trainer_role.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

/// The counts that came with the groups of a batch.
struct batch_counts {
  std::map<std::string, std::int64_t> dropped;
  std::int64_t zero_variance_before = 0;
  double staleness = 0;  // mean
};

batch_counts count(const std::vector<answer_group>& groups, std::int64_t version) {
  batch_counts counts;
  for (const auto& group : groups) {
    for (const auto& [reason, many] : group.dropped) counts.dropped[reason] += many;
    counts.zero_variance_before += group.zero_variance_before;
    counts.staleness += double(version - group.version) / double(groups.size());
  }
  return counts;
}

progress_row row_of(const grpo_report& learned, const batch_counts& counts,
                    const replay_counts& seen, std::int64_t step) {
  std::int64_t dropped = 0;
  for (const auto& [reason, many] : counts.dropped) dropped += many;
  progress_row row{step, columns_of(learned.metrics)};
  row.values.merge(std::map<std::string, double>{
      {"rollout/zero_variance_groups_replaced", double(counts.zero_variance_before)},
      {"rollout/dropped_answers", double(dropped)},
      {"rollout/staleness", counts.staleness},
      {"rollout/stale_dropped", double(seen.stale)},
      {"rollout/stale_dropped_length", seen.stale_length_mean()},
      {"train/n_updates", double(step)}});
  return row;
}

struct recent_sum {
  double total = 0;
  std::int64_t count = 0;
  /// Adds a value. NaN means that there is none.
  void add(double value) {
    if (std::isnan(value)) return;
    total += value;
    ++count;
  }
};

/// The names of the reward functions in the order of sampled_answer::values.
std::vector<std::string> reward_names(const grpo_part& part) {
  std::vector<std::string> names;
  if (part.task.is_played()) return names;
  for (const auto& each : rewards_of(part)) names.push_back(each.name);
  for (const auto& each : part.config.python_rewards().functions) names.push_back(each);
  return names;
}

/// What the task's rewards did not understand in an answer.
std::string note_for(const grpo_part& part, const sampled_answer& answer) {
  for (const auto& name : part.config.task.reward)
    if (auto note = llm::note_of(name, answer.text); !note.empty()) return note;
  return {};
}

void tell_dropped(metrics_registry& metrics, const batch_counts& counts) {
  for (const auto& [reason, many] : counts.dropped) {
    metrics
        .counter("troupe_answers_dropped_total", "Answers that could not be trained on, by reason.",
                 {{"reason", reason}})
        .increment(double(many));
  }
}

}  // namespace

loop_sizes grpo::sizes() const {
  return {.batch = static_cast<std::size_t>(*config_.rollout.prompts),
          .rollouts = static_cast<std::size_t>(config_.rollout.workers)};
}

task<bool> grpo::begin() {
  const bool seen = in.progress.evaluated >= 0;
  if (in.progress.version == 0 && !seen && config_.evaluation.every_updates > 0) {
    const auto began = detail::strand::current().now();
    const auto found = co_await in.evaluate_and_decide({});
    const auto seconds = detail::seconds_between(began, detail::strand::current().now());
    in.progress.start += seconds;
    if (found) {
      log::info("the model was evaluated before the first update",
                {{scored_by_reward() ? "reward" : "right", found->mean},
                 {"of", found->returns.size()},
                 {"seconds", seconds}});
    }
  }
  co_return !in.progress.over() && !in.is_stop_asked();
}

// ---- one update, in the order in which it happens --------------------------------------------

task<std::int64_t> grpo::update(std::vector<answer_group> groups) {
  const auto version = in.progress.version;
  // Groups end in an order of chance. In the order of their prompts the sums of a batch, and so the
  // weights of a run in sync mode, don't depend on it.
  std::ranges::stable_sort(groups, {}, &answer_group::drawn);
  for (const auto& group : groups) in.metrics.batch_sampled(version - group.version);
  const auto push = [&] { return push_weights(trainer_, roles.generators, roles.gate); };
  const auto learned = co_await make_update<grpo_trainer>(in, trainer_, groups, push);
  ++in.progress.steps;
  co_await record(groups, learned, version);
  co_return in.progress.version;
}

/// Records each group's mean reward as the return of an episode, for the curves of a run.
task<> grpo::record_groups(const std::vector<answer_group>& groups) {
  for (const auto& group : groups) {
    double reward = 0, length = 0;
    for (const auto& a : group.answers) {
      reward += a.reward;
      length += double(a.sampled_tokens());
    }
    const double n = double(group.answers.size());
    co_await in.records.route<&recorder::episode>(in.progress.steps, reward / n,
                                                  std::int64_t(std::lround(length / n)));
  }
}

/// Tells the prompts how the answers were, for curricula.
task<> grpo::tell_curriculum(const std::vector<answer_group>& groups) {
  for (const auto& group : groups) {
    if (!parts_[group.task].config.task.curriculum) continue;
    const auto right = std::ranges::count_if(
        group.answers, [](const sampled_answer& each) { return each.right >= 1; });
    co_await roles.prompts.route<&prompt_source::answered>(group.task, group.asked.level,
                                                           std::int64_t(std::ssize(group.answers)),
                                                           std::int64_t{right});
  }
}

/// The values of each reward function, and of each task where there are several. A value that no
/// answer of the batch has is left out.
task<std::map<std::string, double>> grpo::task_values(const std::vector<answer_group>& groups) {
  std::map<std::string, recent_sum> sums;
  for (const auto& group : groups) {
    const auto& part = parts_[group.task];
    const auto prefix = parts_.size() == 1 ? "" : part.task.name() + "/";
    const auto names = reward_names(part);
    for (const auto& answer : group.answers) {
      if (parts_.size() > 1) {
        sums["tasks/" + prefix + "reward_mean"].add(answer.reward);
        sums["tasks/" + prefix + "right_mean"].add(answer.right);
      }
      for (std::size_t i = 0; i < std::min(names.size(), answer.values.size()); ++i)
        sums["rewards/" + prefix + names[i] + "/mean"].add(answer.values[i]);
    }
  }
  std::map<std::string, double> values;
  for (const auto& [name, sum] : sums)
    if (sum.count > 0) values[name] = sum.total / double(sum.count);
  const bool has_levels = std::ranges::any_of(
      parts_, [](const grpo_part& part) { return part.config.task.curriculum.has_value(); });
  if (parts_.size() > 1 || has_levels) {
    const auto progress = co_await roles.prompts.route<&prompt_source::progress>();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto prefix = "tasks/" + parts_[i].task.name() + "/";
      if (parts_.size() > 1) values[prefix + "prompts"] = double(progress[i].drawn);
      if (!parts_[i].config.task.curriculum) continue;
      values[prefix + "level"] = double(progress[i].level);
      values[prefix + "success_rate"] = progress[i].success_rate;
    }
  }
  co_return values;
}

/// Records the update. `version` is that of the weights that the update began with.
task<> grpo::record(const std::vector<answer_group>& groups, const grpo_report& learned,
                    std::int64_t version) {
  const auto counts = count(groups, version);
  tell_dropped(in.sys.metrics(), counts);
  co_await record_groups(groups);
  co_await tell_curriculum(groups);
  auto figures = figures_of(learned.metrics);
  figures.clip_ratio = learned["train/clip_fraction"];
  in.metrics.updated(figures);
  in.metrics.steps_skipped(learned.skipped_steps);
  const auto seen = co_await roles.replay.route<&replay_queue<answer_group>::counts>();
  in.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
  auto row = row_of(learned, counts, seen, in.progress.steps);
  row.values.merge(co_await task_values(groups));
  co_await in.record(std::move(row));
  warn_if_nothing_differs(groups, learned.advantages);
  keep_samples(groups, learned.advantages, version);
}

/// Warns if answers of a group have had the same reward in each of the first updates: GRPO learns
/// from the differences.
void grpo::warn_if_nothing_differs(const std::vector<answer_group>& groups,
                                   const std::vector<std::vector<double>>& advantages) {
  constexpr int updates = 5;
  const auto is_zero = [](double each) { return each == 0; };
  const bool none = std::ranges::all_of(
      advantages, [&](const auto& group) { return std::ranges::all_of(group, is_zero); });
  without_difference_ += none;
  if (in.progress.version != updates || without_difference_ != updates) return;
  const auto is_right = [](const sampled_answer& each) { return each.right >= 1; };
  const auto& group = groups.front();
  // Nothing is left to be learned where all is right.
  if (group.answers.empty() || std::ranges::all_of(group.answers, is_right)) return;
  const auto& answer = group.answers.front();
  const auto beginning = [](const std::string& text) { return text.substr(0, 200); };
  log::warn(
      "all answers to a prompt have had the same reward in the first updates, so nothing is "
      "learned",
      {{"updates", updates},
       {"prompt", beginning(group.asked.question)},
       {"answer", beginning(answer.text)},
       {"reward", answer.reward},
       {"try",
        "a warm start or another model where no answer is right, a reward with "
        "partial credit, easier or harder problems; troupe samples shows more"}});
}

void grpo::keep_samples(const std::vector<answer_group>& groups,
                        const std::vector<std::vector<double>>& advantages, std::int64_t version) {
  in.sys.metrics().show("samples", sample_board(groups, in.progress.version, version),
                        board_readers::user);
  const auto every = config_.samples.every_updates;
  if (every == 0 || in.progress.version % every != 0) return;
  try {
    std::vector<std::string> tasks;
    if (parts_.size() > 1)
      for (const auto& part : parts_) tasks.push_back(part.task.name());
    const auto note = [this](const answer_group& group, const sampled_answer& answer) {
      return note_for(parts_[group.task], answer);
    };
    samples_->add(in.progress.version, version, groups, advantages, tasks, config_.samples.tokens,
                  note);
  } catch (const std::exception& e) {
    in.metrics.write_failed();
    log::error("samples were not kept; training goes on", {{"error", e.what()}});
  }
}

}  // namespace troupe
