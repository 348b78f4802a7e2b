#pragma once
// GRPO as an algorithm of a run (algorithms/run/algorithm.hpp): its roles, its episode and its
// update.
//
//   prompts      training problems; two more services have held-out problems, one for evaluations
//                during training and one for the evaluation at the end
//   generators   write answers
//   rewards      judge answers; code is run by the coders first; rewards and prompts may be in
//                Python
//   worlds       play episodes with the model; a task has either rewards or worlds
//   replay       hands each group to the trainer once and whole, unless it is too stale
//   trainer      updates the weights, which go to the store and the generators
//
// generate_answers (grpo_episode.hpp) draws a prompt and has a group of answers written and judged.
// The loop puts the group into the replay. `update` gives a batch of groups to the trainer and the
// new weights to the generators.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/coder/code_runner.hpp"
#include "actors/text/recorded_episodes.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/language_models/grpo/grpo_trainer.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "algorithms/language_models/grpo/sample_log.hpp"
#include "algorithms/run/algorithm.hpp"

namespace troupe {

/// GRPO with the members that train asks of an algorithm.
class grpo {
 public:
  using experience = answer_group;

  /// `config` must be a completed one (grpo_defaults.hpp).
  grpo(training_run& in, grpo_config config, std::vector<grpo_part> parts);

  answer_roles roles;
  static task<answer_group> generate(answer_roles with) {
    return generate_answers(std::move(with));
  }
  task<std::int64_t> update(std::vector<answer_group> groups);
  loop_sizes sizes() const;
  /// Evaluates the model before the first update. Returns false if the run ends there.
  task<bool> begin();

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);

  /// The share of right answers to held-out problems, or the mean reward of episodes, during
  /// training.
  task<evaluation> evaluate(weights of, std::size_t problems, std::uint64_t seed);
  /// Evaluates like `evaluate`, but on other held-out problems, since the best model and the moment
  /// to stop are chosen by `evaluate`.
  task<evaluation> evaluate_at_the_end(weights of);
  /// Evaluates weights from outside of a run as evaluate_at_the_end does. Serves only the roles
  /// that generate and judge answers.
  task<evaluation> evaluate_alone(weights of, std::size_t problems);
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const;
  std::optional<double> kept_score(const std::filesystem::path& path) const;
  std::optional<double> threshold() const { return std::nullopt; }

  const prompt_format& format() const { return *format_; }

 private:
  warm_start_sampler warm_start_from() const;
  task<> serve_trainer(const checkpoint* from);
  task<> serve_answering(const checkpoint* from);
  task<> serve_replay(const checkpoint* from);
  task<> serve_prompts(const checkpoint* from);
  prompt_task training_prompts(std::size_t which) const;
  python_dataset<llm::problem>::maker generated_problems(std::size_t which) const;
  std::string name_for(const char* service, std::size_t which) const;
  task<> serve_task(std::size_t which);
  task<service<code_runner>> serve_coders(std::size_t which);
  task<> serve_worlds(std::size_t which);
  void begin_recordings(const checkpoint* from);
  bool any_played() const;
  bool scored_by_reward() const;
  std::size_t at_once() const;
  task<> record_groups(const std::vector<answer_group>& groups);
  task<> record(const std::vector<answer_group>& groups, const grpo_report& learned,
                std::int64_t version);
  void warn_if_nothing_differs(const std::vector<answer_group>& groups,
                               const std::vector<std::vector<double>>& advantages);
  void keep_samples(const std::vector<answer_group>& groups,
                    const std::vector<std::vector<double>>& advantages, std::int64_t version);
  task<std::map<std::string, double>> task_values(const std::vector<answer_group>& groups);
  task<> tell_curriculum(const std::vector<answer_group>& groups);
  task<> record_evaluation(const std::string& name, double value);
  using prompt_sources = std::vector<service<prompt_source>>;
  task<evaluation> evaluate_held_out(weights of, std::size_t problems);
  task<evaluation> evaluate_all(const prompt_sources& sources, weights of, std::size_t problems,
                                std::uint64_t seed);
  task<std::vector<sampled_answer>> ask(std::size_t which, service<prompt_source> problems,
                                        weights of, std::size_t count, std::uint64_t seed);
  task<std::vector<sampled_answer>> ask_once(std::size_t which, service<prompt_source> problems,
                                             weights of, std::size_t count, std::uint64_t seed);

  training_run& in;
  const grpo_config config_;
  const std::vector<grpo_part> parts_;
  const std::vector<llm::problem_set> problems_;  ///< Those of each part.
  std::shared_ptr<const prompt_format> format_;
  service<grpo_trainer> trainer_;
  prompt_sources evaluation_prompts_, final_prompts_;  ///< One for each part.
  std::optional<sample_log> samples_;
  std::int64_t without_difference_ = 0;  ///< Updates whose advantages were all 0.
  std::vector<std::shared_ptr<recording_file>> recordings_;  ///< One for each part; may be null.
};

namespace detail {

/// `parts` are those of the completed configuration.
run_settings settings_of(const grpo_config& config, const std::vector<grpo_part>& parts);
/// The options of a run's coders.
code_runner_options coders_of(const grpo_config& config);

inline double seconds_between(time_point from, time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace detail
}  // namespace troupe
