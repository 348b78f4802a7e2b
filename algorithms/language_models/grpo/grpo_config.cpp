#include "algorithms/language_models/grpo/grpo_config.hpp"

#include <fmt/ranges.h>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/option_rule.hpp"

namespace troupe {

namespace {

/// Coders take pairs that begin with an even number.
std::int64_t last_user_needed(const grpo_code_section& c) {
  return (c.first_user + 1) / 2 * 2 + 2 * std::int64_t{c.coders} - 1;
}

}  // namespace

void describe(options_schema<grpo_problems_section>& s) {
  s.field("size", &grpo_problems_section::size)
      .at_least(1)
      .at_most(9)
      .unit("digits or letters")
      .help("of a problem: the larger, the harder; null: 3, of sum_digits and reversed_text 4");
  s.field("training", &grpo_problems_section::training)
      .at_least(1)
      .at_most(1'000'000)
      .help("different problems to train on; null: 700, of sum_digits 7500");
  s.field("held_out", &grpo_problems_section::held_out)
      .at_least(1)
      .at_most(1'000'000)
      .help("others, for evaluation alone; null: 200, of sum_digits 1500");
}

void describe(options_schema<grpo_task_section>& s) {
  // No list of names that are allowed: a program can have tasks of its own.
  s.field("name", &grpo_task_section::name)
      .help(fmt::format("what is asked: {}", fmt::join(known_task_names(), ", ")));
  s.field("problems", &grpo_task_section::problems).help("made from the seed");
  s.field("shots", &grpo_task_section::shots)
      .at_least(0)
      .at_most(64)
      .help("training problems that a chat model is shown, solved, before the one it is asked");
}

void describe(options_schema<grpo_code_section>& s) {
  s.field("coders", &grpo_code_section::coders)
      .at_least(1)
      .at_most(1024)
      .help("programs that run at the same time");
  s.field("wall_s", &grpo_code_section::wall_s)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("after which a program is killed");
  s.field("memory_mib", &grpo_code_section::memory_mib)
      .at_least(64)
      .at_most(1 << 20)
      .unit("MiB")
      .help("of a program's address space");
  s.field("processes", &grpo_code_section::processes)
      .at_least(1)
      .at_most(4096)
      .help(
          "processes and threads that a program may have at the same time, itself included; each "
          "may use memory_mib. More than 1 takes a trainer that runs as root");
  s.field("first_user", &grpo_code_section::first_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help(
          "the first of the user numbers from which each coder takes two for its programs. Only a "
          "trainer that runs as root uses them");
  s.field("last_user", &grpo_code_section::last_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help("the last of the user numbers");
}

void describe(options_schema<grpo_game_section>& s) {
  s.field("urls", &grpo_game_section::urls)
      .items(0, 1024)
      .example("[http://localhost:8000]")
      .help("OpenEnv servers; none: Troupe's own environment, in this process");
  s.field("worlds", &grpo_game_section::worlds)
      .at_least(1)
      .at_most(16384)
      .help("games at the same time");
  s.field("turns", &grpo_game_section::turns)
      .at_least(1)
      .at_most(1000)
      .help("after which a game is cut; null: the game's longest, of blackjack 6");
  s.field("illegal_reward", &grpo_game_section::illegal_reward)
      .help("of what is no legal move, which ends the game");
}

void describe(options_schema<grpo_model_section>& s) {
  s.field("path", &grpo_model_section::path)
      .help(
          "a chat model's folder or GGUF file, or the name of one that `troupe models get` has "
          "got; "
          "empty: a model of 22 letters, made by the seed");
  s.field("system_prompt", &grpo_model_section::system_prompt)
      .help("what a chat model is told first; empty: what its template says by itself");
}

void describe(options_schema<grpo_warm_start_section>& s) {
  s.field("batches", &grpo_warm_start_section::batches)
      .at_least(0)
      .at_most(1'000'000)
      .help(
          "supervised steps on right answers before the first update; 0: none; null: 40, of "
          "problems in letters 120");
  s.field("batch_size", &grpo_warm_start_section::batch_size)
      .at_least(1)
      .at_most(65536)
      .unit("problems")
      .help("of such a step");
  s.field("lr", &grpo_warm_start_section::lr)
      .above(0)
      .help("AdamW's step size at the first of them; it falls to 0");
  s.field("keep_moments", &grpo_warm_start_section::keep_moments)
      .help(
          "the trainer's Adam goes on with these steps' moments; null: of problems, not of games");
}

void describe(options_schema<grpo_rollout_section>& s) {
  s.field("prompts", &grpo_rollout_section::prompts)
      .also_known_as({"batch", "batch_size"})
      .at_least(1)
      .at_most(4096)
      .help("groups of one update; null: 64, of problems in letters 256");
  s.field("group", &grpo_rollout_section::group)
      .also_known_as({"group_size", "num_generations", "n"})
      .at_least(1)
      .at_most(4096)
      .unit("answers")
      .help("to each prompt; null: 8, of problems in letters 4");
  s.field("answer_tokens", &grpo_rollout_section::answer_tokens)
      .also_known_as({"max_completion_length", "max_new_tokens"})
      .at_least(1)
      .at_most(1'000'000)
      .unit("tokens")
      .help("longest answer, or move of a game");
  s.field("temperature", &grpo_rollout_section::temperature)
      .at_least(0.001)
      .at_most(1000)
      .help("of sampling; log-probabilities are trained at the same");
  s.field("rounds", &grpo_rollout_section::rounds)
      .at_least(1)
      .at_most(1000)
      .help("prompts asked for one group, until answers can be trained on and differ in reward");
  s.field("workers", &grpo_rollout_section::workers)
      .at_least(1)
      .at_most(4096)
      .help("groups under way at once in async mode");
  s.field("max_staleness", &grpo_rollout_section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("versions")
      .help("that a group may be behind the trainer in async mode");
  s.field("slots", &grpo_rollout_section::slots)
      .at_least(1)
      .at_most(4096)
      .help("answers that the generator writes at the same time");
  s.field("answer_deadline_s", &grpo_rollout_section::answer_deadline_s)
      .above(0)
      .at_most(1e6)
      .unit("seconds")
      .help(
          "until a group's answers are written, or one is judged, waiting in line included; those "
          "that come later are dropped and counted, and another prompt is asked, up to rounds");
}

void describe(options_schema<grpo_samples_section>& s) {
  s.field("every_updates", &grpo_samples_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help("between those whose best and worst answers are kept in samples.jsonl; 0: none");
}

void describe(options_schema<grpo_evaluation_section>& s) {
  s.field("every_updates", &grpo_evaluation_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help("between evaluations, the first before training; 0: only at the end");
  s.field("problems", &grpo_evaluation_section::problems)
      .at_least(1)
      .at_most(1'000'000)
      .help(
          "held-out ones, or deals, of an evaluation during training, each once, likeliest tokens "
          "taken");
  s.field("final_problems", &grpo_evaluation_section::final_problems)
      .at_least(1)
      .at_most(1'000'000)
      .help("others of them, of the evaluation at the end and of troupe eval");
  s.field("stop_at", &grpo_evaluation_section::stop_at)
      .at_least(-1)
      .at_most(1)
      .help(
          "share of right answers, or mean reward of games, that ends training; null: total_steps "
          "alone do");
}

void describe(options_schema<grpo_config>& s) {
  s.field("algo", &grpo_config::algo).one_of({"grpo"}).help("what this configures");
  s.field("task", &grpo_config::task).help("what is asked");
  s.field("code", &grpo_config::code).help("how answers are run, where the task is code");
  s.field("game", &grpo_config::game).help("how it is played, where the task is a game");
  s.field("model", &grpo_config::model).help("who answers");
  s.field("total_steps", &grpo_config::total_steps)
      .also_known_as({"max_steps", "steps"})
      .at_least(1)
      .at_most(1e9)
      .unit("updates")
      .help("after which training ends");
  s.field("seed", &grpo_config::seed).help("of weights, problems and answers");
  s.field("mode", &grpo_config::mode).help("how answers and training are composed");
  s.field("warm_start", &grpo_config::warm_start).help("supervised steps before the first update");
  s.field("rollout", &grpo_config::rollout).help("how answers are made");
  s.field("trainer", &grpo_config::trainer).help("the update rule");
  s.field("evaluation", &grpo_config::evaluation).help("likeliest answers to held-out problems");
  s.field("checkpoint", &grpo_config::checkpoint).help("what a run is resumed from");
  s.field("samples", &grpo_config::samples).help("answers that are kept, for people");
  s.field("deterministic", &grpo_config::deterministic)
      .help(
          "one thread, virtual time, an order drawn from the seed: the same seed gives the same "
          "weights");
  describe_faults(s);
  option_rule(
      s, "rollout.group",
      [](const grpo_config&) {
        return "at least 2, as advantages are differences within a group but of trainer.advantage "
               "of reward";
      },
      [](const grpo_config& c) {
        return c.rollout.group.value_or(8) > 1 || c.trainer.advantages() == advantage_kind::reward;
      });
  option_rule(
      s, "trainer.overlong_cache",
      [](const grpo_config& c) {
        return fmt::format("at most rollout.answer_tokens, {}", c.rollout.answer_tokens);
      },
      [](const grpo_config& c) {
        return c.trainer.overlong_cache.value_or(0) <= c.rollout.answer_tokens;
      });
  option_rule(
      s, "trainer.warmup_updates",
      [](const grpo_config& c) {
        return fmt::format("fewer than total_steps, {}, as the step size never comes to lr else",
                           c.total_steps);
      },
      [](const grpo_config& c) { return c.trainer.warmup_updates.value_or(0) < c.total_steps; });
  option_rule(
      s, "code.last_user",
      [](const grpo_config& c) {
        return fmt::format("at least {}, two after code.first_user for each of code.coders",
                           last_user_needed(c.code));
      },
      [](const grpo_config& c) { return c.code.last_user >= last_user_needed(c.code); });
  option_rule(
      s, "game.urls",
      [](const grpo_config&) {
        return "[] where deterministic is true, as a server's replies come when they come";
      },
      [](const grpo_config& c) { return !c.deterministic || c.game.urls.empty(); });
}

}  // namespace troupe
