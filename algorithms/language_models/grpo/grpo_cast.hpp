#pragma once
// The services of a GRPO run: served, taken into and out of a checkpoint (grpo_cast.cpp), and what
// is done with them (grpo_training.cpp). Internal to grpo/.
//
//   prompts      problems to train on; held-out ones of two exams, one for evaluations during
//                training, one for the evaluation at the end
//   generators   write answers
//   rewards      judge them; of code, after coders have run it; or
//   worlds       play games with who writes
//   replay       hands each group to the trainer once, whole, none too stale
//   trainer      GRPO; its weights go to the store and the generators
//   weights, recorder   as with every algorithm

#include <memory>

#include "actors/coder/coder.hpp"
#include "algorithms/language_models/grpo/game_episode.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/language_models/grpo/grpo_trainer.hpp"
#include "algorithms/language_models/grpo/sample_log.hpp"
#include "algorithms/run/training_cast.hpp"

namespace troupe::detail {

using episode_function = task<answer_group> (*)(answer_roles);

class grpo_cast final : public training_cast {
 public:
  /// The configuration is a completed one.
  grpo_cast(system& sys, grpo_config config, grpo_task task, training_output output,
            training_callbacks callbacks);
  /// Stops the services, those that call others first.
  ~grpo_cast() override;

  task<> serve(const checkpoint* from) override;
  task<> train_until(std::int64_t version, bool drain) override;
  task<checkpoint> save() override;
  task<training_summary> conclude() override;
  /// The share of right answers to held-out problems; of games the mean reward. What is chosen by
  /// it, as the moment to stop, is judged on others.
  task<evaluation> evaluate(weights of, std::size_t problems, std::uint64_t seed) override;
  /// As the evaluation at the end does, weights that come from outside: serves what answers them,
  /// and no other role.
  task<evaluation> examine(weights of, std::size_t problems);
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const override;
  std::optional<double> kept_score(const std::filesystem::path& path) const override;
  std::optional<double> threshold() const override { return std::nullopt; }

  /// What the loops run.
  episode_function episode() const { return game ? play_games : generate_answers; }

  const grpo_config config;
  const grpo_task what;
  const openenv::text_game* const game;  ///< what it is; null: problems
  const llm::problem_set problems;
  std::shared_ptr<const grpo_subject> subject;
  service<grpo_trainer> learner;
  service<prompt_source> exam, final_exam;
  answer_roles roles;
  std::optional<sample_log> samples;

 private:
  task<> serve_store(weights first);
  task<> serve_learning(const checkpoint* from);
  task<> serve_answering(const checkpoint* from);
  task<> serve_prompts(const checkpoint* from);
  task<> serve_coders();
  task<> serve_judging();
  /// The evaluation at the end.
  task<evaluation> judge(weights of, std::size_t problems);
  task<evaluation> ask(service<prompt_source> problems, weights of, std::size_t count,
                       std::uint64_t seed);
  task<evaluation> ask_once(service<prompt_source> problems, weights of, std::size_t count,
                            std::uint64_t seed);
};

training_settings settings_of(const grpo_config& config, const grpo_task& task);
/// How the coders of a run are made.
coder_options coders_of(const grpo_config& config);

inline double seconds_between(time_point from, time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace troupe::detail
