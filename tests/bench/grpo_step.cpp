#include "actors/torch/torch.hpp"

#include "tests/bench/grpo_step.hpp"

#include <nlohmann/json.hpp>

#include "actors/llm/model/read_model.hpp"
#include "algorithms/loops/loops.hpp"
#include "tests/bench/grpo_batch.hpp"
#include "tests/bench/grpo_stage.hpp"
#include "tests/bench/smollm2_shape.hpp"
#include "tests/bench/trl_peer.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

using namespace grpo_batch;
constexpr int steps = 3;

std::vector<llm::problem> long_problems() {
  std::vector<llm::problem> made(groups * steps);
  action_random random(1);
  for (auto& each : made) {
    for (std::size_t i = 0; i < prompt_tokens; ++i)
      each.letters += static_cast<char>('0' + random.below(10));
  }
  return made;
}

task<grpo_stage> serve_stage(system& sys, at::Tensor start) {
  // No token ends an answer. It is asked letters, whose tokens are the first of its vocabulary.
  auto format = prompt_format_of(grpo_config{});
  format.config = llm::smollm2_135m();
  grpo_stage_options options{.format = std::move(format),
                             .start = std::move(start),
                             .groups = groups,
                             .answers = answers,
                             .max_completion_tokens = answer_tokens};
  auto made = co_await serve_grpo_stage(sys, std::move(options));
  made.roles.prompts =
      co_await sys.serve<prompt_source>({.name = "prompts"}, long_problems(), false, 1u);
  const auto chance = [random = action_random(2)](const llm::answered_problem&) mutable {
    return double(random.below(1000)) / 1000;
  };
  const std::vector<reward_function<llm::answered_problem>> judging{{"chance", chance}};
  made.roles.rewards = co_await sys.serve<answer_judge>({.name = "rewards"}, judging);
  co_return made;
}

task<std::int64_t> train(grpo_stage with, std::vector<answer_group> groups, std::int64_t version) {
  const auto learned = co_await train_on(with, std::move(groups));
  TORCH_CHECK(learned.trained_tokens == std::int64_t(grpo_batch::groups * answers * answer_tokens),
              "a step trained on ", learned.trained_tokens, " tokens");
  co_return version;
}

struct measured {
  detail::series ours, theirs;
  double began = 0;
};

/// After each of our steps one of theirs, for which this process waits.
task<> note_step(measured* seen, trl_peer* peer) {
  seen->ours.cpu.push_back(detail::cpu_seconds() - seen->began);
  if (peer->missing().empty()) seen->theirs.cpu.push_back(peer->step());
  seen->began = detail::cpu_seconds();
  co_return;
}

task<> run_steps(system& sys, at::Tensor start, measured* seen, trl_peer* peer) {
  const auto with = co_await serve_stage(sys, std::move(start));
  std::int64_t version = 0;
  const loops::hooks<answer_group> hooks{
      .train =
          [&](std::vector<answer_group> made) { return train(with, std::move(made), ++version); },
      .updated = [&](std::int64_t) { return note_step(seen, peer); }};
  seen->began = detail::cpu_seconds();
  co_await loops::synchronous(with.roles, generate_answers, hooks,
                              {.batch = groups, .updates = steps});
}

}  // namespace

void measure_whole_step(nlohmann::ordered_json& results) {
  const auto config = llm::smollm2_135m();
  const auto weights = llm::random_weights(config, 1);
  const auto folder =
      std::filesystem::temp_directory_path() / ("bench_grpo_model_" + std::to_string(::getpid()));
  llm::write_model(folder, config, weights);
  measured seen;
  {
    trl_peer peer(folder);
    std::filesystem::remove_all(folder);
    results["grpo_step_vs_trl"] = nullptr;
    if (!peer.missing().empty()) results["grpo_step_vs_trl_missing"] = peer.missing();
    system sys({.threads = 2});
    sys.run(run_steps(sys, llm::flatten_weights(config, weights), &seen, &peer));
    if (peer.missing().empty()) results["grpo_step_peer"] = peer.name();
  }
  results["grpo_step_cpu_s"] = detail::series::best(seen.ours.cpu);
  if (seen.theirs.cpu.empty()) return;
  results["grpo_step_trl_cpu_s"] = detail::series::best(seen.theirs.cpu);
  results["grpo_step_vs_trl"] =
      detail::series::best(seen.theirs.cpu) / detail::series::best(seen.ours.cpu);
}

}  // namespace troupe
