#pragma once
// What GRPO is to a run: roles, an episode and an update.
//
//   prompts      problems to train on; held-out ones in two lists, one for evaluations during
//                training, one for the evaluation at the end
//   generators   write answers
//   rewards      judge them; of code, after coders have run it; or
//   worlds       play games with who writes
//   replay       hands each group to the trainer once, whole, none too stale
//   trainer      GRPO; its weights go to the store and the generators
//
// The way of one answer: generate_answers (grpo_episode.hpp) draws a prompt, has a group of answers
// written and judged; the loop puts the group into the replay; `update` gives a batch of groups to
// the trainer, and the new weights to the generators.

#include <memory>
#include <optional>
#include <vector>

#include "actors/coder/coder.hpp"
#include "algorithms/language_models/grpo/game_episode.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/language_models/grpo/grpo_trainer.hpp"
#include "algorithms/language_models/grpo/sample_log.hpp"
#include "algorithms/run/algorithm.hpp"

namespace troupe {

class grpo {
 public:
  using experience = answer_group;

  /// The configuration is a completed one.
  grpo(training_run& in, grpo_config config, grpo_task task);

  answer_roles roles;
  static task<answer_group> generate(answer_roles with) {
    return with.worlds ? play_games(std::move(with)) : generate_answers(std::move(with));
  }
  task<std::int64_t> update(std::vector<answer_group> groups);
  loop_sizes sizes() const;
  /// The curve's first point: what the model can do before it learns.
  task<bool> begin();

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);

  /// The share of right answers to held-out problems; of games the mean reward. What is chosen by
  /// it, as the moment to stop, is judged on others.
  task<evaluation> evaluate(weights of, std::size_t problems, std::uint64_t seed);
  task<evaluation> evaluate_at_the_end(weights of);
  /// As the evaluation at the end does, weights that come from outside: serves what answers them,
  /// and no other role.
  task<evaluation> evaluate_alone(weights of, std::size_t problems);
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const;
  std::optional<double> kept_score(const std::filesystem::path& path) const;
  std::optional<double> threshold() const { return std::nullopt; }

  const grpo_subject& subject() const { return *subject_; }

 private:
  task<> serve_trainer(const checkpoint* from);
  task<> serve_answering(const checkpoint* from);
  task<> serve_replay(const checkpoint* from);
  task<> serve_prompts(const checkpoint* from);
  task<> serve_coders();
  task<> serve_judging();
  std::size_t at_once() const;
  task<> record_groups(const std::vector<answer_group>& groups);
  task<> record(const std::vector<answer_group>& groups, grpo_report learned, std::int64_t version);
  void keep_samples(const std::vector<answer_group>& groups,
                    const std::vector<std::vector<double>>& advantages, std::int64_t version);
  task<> tell_win_rate(double rate);
  task<evaluation> evaluate_held_out(weights of, std::size_t problems);
  task<evaluation> ask(service<prompt_source> problems, weights of, std::size_t count,
                       std::uint64_t seed);
  task<evaluation> ask_once(service<prompt_source> problems, weights of, std::size_t count,
                            std::uint64_t seed);

  training_run& in;
  const grpo_config config_;
  const grpo_task task_;
  const openenv::text_game* const game_;  ///< What the task is; null: problems.
  const llm::problem_set problems_;
  std::shared_ptr<const grpo_subject> subject_;
  service<grpo_trainer> trainer_;
  service<prompt_source> evaluation_prompts_, final_prompts_;
  std::optional<sample_log> samples_;
};

namespace detail {

run_settings settings_of(const grpo_config& config, const grpo_task& task);
/// How the coders of a run are made.
coder_options coders_of(const grpo_config& config);

inline double seconds_between(time_point from, time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace detail
}  // namespace troupe
