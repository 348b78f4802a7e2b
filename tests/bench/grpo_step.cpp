#include "actors/torch/torch.hpp"

#include "tests/bench/grpo_step.hpp"

#include <nlohmann/json.hpp>

#include "actors/llm/model/read_model.hpp"
#include "algorithms/learner/micro_batches.hpp"
#include "algorithms/loops/loops.hpp"
#include "tests/bench/grpo_batch.hpp"
#include "tests/bench/grpo_stage.hpp"
#include "tests/bench/smollm2_shape.hpp"
#include "tests/bench/trl_peer.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

struct measurement {
  grpo_batch::shape of;
  int steps;
  std::string suffix = {};  // of the results' names
};

std::vector<llm::problem> long_problems(const measurement& m) {
  std::vector<llm::problem> made(m.of.groups * std::size_t(m.steps));
  action_random random(1);
  for (auto& each : made) {
    for (std::size_t i = 0; i < m.of.prompt_tokens; ++i)
      each.letters += static_cast<char>('0' + random.below(10));
  }
  return made;
}

task<grpo_stage> serve_stage(system& sys, at::Tensor start, measurement m) {
  // No token ends an answer. It is asked letters, whose tokens are the first of its vocabulary.
  auto format = prompt_format_of(grpo_config{});
  format.config = llm::smollm2_135m();
  grpo_stage_options options{.format = std::move(format),
                             .start = std::move(start),
                             .groups = m.of.groups,
                             .answers = m.of.answers,
                             .max_completion_tokens = std::int64_t(m.of.answer_tokens)};
  auto made = co_await serve_grpo_stage(sys, std::move(options));
  made.roles.prompts =
      co_await sys.serve<prompt_source>({.name = "prompts"}, long_problems(m), false, 1u);
  const auto chance = [random = action_random(2)](const llm::answered_problem&) mutable {
    return double(random.below(1000)) / 1000;
  };
  const std::vector<reward_function<llm::answered_problem>> judging{{"chance", chance}};
  made.roles.tasks.resize(1);
  made.roles.tasks[0].rewards = co_await sys.serve<answer_judge>({.name = "rewards"}, judging);
  co_return made;
}

/// What a step did.
struct work {
  std::int64_t prompt_tokens = 0, answer_tokens = 0, computed_tokens = 0;
};

std::int64_t tokens_of(const llm::token_group& group) {
  auto count = std::ssize(group.prompt);
  for (const auto& answer : group.answers) count += std::ssize(answer);
  return count;
}

/// What learning from these groups is, in the micro-batches of the learner.
work work_of(const std::vector<answer_group>& groups) {
  work done;
  std::vector<llm::token_group> learned;
  for (const auto& group : groups) {
    auto& each = learned.emplace_back(llm::token_group{group.prompt, {}});
    for (const auto& answer : group.answers) each.answers.push_back(answer.tokens);
    done.prompt_tokens += std::ssize(group.prompt);
  }
  for (const auto some :
       detail::micro_batches(std::span(learned), grpo_options().micro_tokens, tokens_of)) {
    const auto packed = llm::pack_groups(some);
    done.answer_tokens += std::ssize(packed.targets.ids);
    done.computed_tokens += std::ssize(packed.tokens.ids);
  }
  return done;
}

struct measured {
  detail::series ours, theirs;
  work done;
  std::int64_t their_computed_tokens = 0;
  double began = 0;
};

task<std::int64_t> train(grpo_stage with, std::vector<answer_group> groups, std::int64_t version,
                         measured* seen) {
  seen->done = work_of(groups);
  const auto learned = co_await train_on(with, std::move(groups));
  TORCH_CHECK(learned["train/trained_tokens"] == double(seen->done.answer_tokens),
              "a step sampled ", seen->done.answer_tokens, " tokens, and trained on ",
              learned["train/trained_tokens"]);
  co_return version;
}

/// After each of our steps one of theirs, for which this process waits.
task<> note_step(measured* seen, trl_peer* peer) {
  seen->ours.cpu.push_back(detail::cpu_seconds() - seen->began);
  if (peer->missing().empty()) {
    const auto theirs = peer->step();
    const auto& ours = seen->done;
    TORCH_CHECK(
        theirs.answer_tokens == ours.answer_tokens && theirs.prompt_tokens == ours.prompt_tokens,
        "expected the same work, got ", ours.prompt_tokens, " tokens of prompts and ",
        ours.answer_tokens, " of answers here, ", theirs.prompt_tokens, " and ",
        theirs.answer_tokens, " in TRL");
    seen->theirs.cpu.push_back(theirs.cpu_s);
    seen->their_computed_tokens = theirs.computed_tokens;
  }
  seen->began = detail::cpu_seconds();
  co_return;
}

task<> run_steps(system& sys, at::Tensor start, measurement m, measured* seen, trl_peer* peer) {
  const auto with = co_await serve_stage(sys, std::move(start), m);
  std::int64_t version = 0;
  const loops::hooks<answer_group> hooks{
      .train =
          [&](std::vector<answer_group> made) {
            return train(with, std::move(made), ++version, seen);
          },
      .updated = [&](std::int64_t) { return note_step(seen, peer); }};
  seen->began = detail::cpu_seconds();
  co_await loops::synchronous(with.roles, generate_answers, hooks,
                              {.batch = m.of.groups, .updates = m.steps});
}

void measure_steps(const measurement& m, nlohmann::ordered_json& results) {
  const auto result = [&](const std::string& name) -> auto& { return results[name + m.suffix]; };
  const auto config = llm::smollm2_135m();
  const auto weights = llm::random_weights(config, 1);
  const auto folder =
      std::filesystem::temp_directory_path() / ("bench_grpo_model_" + std::to_string(::getpid()));
  llm::write_model(folder, config, weights);
  measured seen;
  {
    trl_peer peer(folder, m.of);
    std::filesystem::remove_all(folder);
    result("grpo_step_vs_trl") = nullptr;
    if (!peer.missing().empty()) result("grpo_step_vs_trl_missing") = peer.missing();
    system sys({.threads = 2});
    sys.run(run_steps(sys, llm::flatten_weights(config, weights), m, &seen, &peer));
    if (peer.missing().empty()) result("grpo_step_peer") = peer.name();
  }
  result("grpo_step_cpu_s") = detail::series::best(seen.ours.cpu);
  result("grpo_step_answer_tokens") = seen.done.answer_tokens;
  result("grpo_step_computed_tokens") = seen.done.computed_tokens;
  if (seen.theirs.cpu.empty()) return;
  result("grpo_step_trl_cpu_s") = detail::series::best(seen.theirs.cpu);
  result("grpo_step_trl_computed_tokens") = seen.their_computed_tokens;
  result("grpo_step_vs_trl") =
      detail::series::best(seen.theirs.cpu) / detail::series::best(seen.ours.cpu);
}

}  // namespace

void measure_whole_step(nlohmann::ordered_json& results) {
  measure_steps({.of = grpo_batch::short_answers, .steps = 3}, results);
}

void measure_long_step(nlohmann::ordered_json& results) {
  measure_steps({.of = grpo_batch::long_answers, .steps = 2, .suffix = "_long"}, results);
}

}  // namespace troupe
