#include "actors/torch/torch.hpp"

#include "tests/bench/grpo_stage.hpp"

#include "runtime/coroutine/sleep.hpp"

namespace troupe {

task<grpo_stage> serve_grpo_stage(system& sys, grpo_stage_options o) {
  grpo_stage made;
  const auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto format = std::make_shared<const prompt_format>(std::move(o.format));
  const grpo_model model{
      .config = format->config, .max_completion_tokens = o.max_completion_tokens, .lr = o.lr};
  const grpo_options options{.variant = grpo_variant::grpo,
                             .zero_variance_groups = zero_variance_rule::keep};
  std::function<std::unique_ptr<grpo_learner>()> make = [=, start = o.start] {
    return std::make_unique<grpo_learner>(model, options, grpo_start{start, {}}, 1);
  };
  serve_options learning{.name = "trainer", .placement = placement::thread};
  made.learner = co_await sys.serve<grpo_trainer>(std::move(learning), std::move(make), store);
  const auto at_once = o.groups * o.answers;
  llm::generator_options writing{.config = format->config,
                                 .engine = {.slots = std::int64_t(at_once)},
                                 .texts = llm::texts_of(format->tokens)};
  serve_options generating{
      .name = "generator", .placement = placement::thread, .max_ongoing = at_once};
  made.roles.generators =
      co_await sys.serve<llm::generator>(std::move(generating), std::move(writing), store);
  const replay_options kept{.batch = std::int64_t(o.groups), .max_staleness = o.max_staleness};
  made.roles.replay = co_await sys.serve<replay_queue<answer_group>>({.name = "replay"}, kept);
  made.roles.format = format;
  made.roles.group = std::int64_t(o.answers);
  made.roles.max_completion_tokens = o.max_completion_tokens;
  co_return made;
}

task<grpo_report> train_on(grpo_stage with, std::vector<answer_group> groups, duration at_least) {
  const auto began = std::chrono::steady_clock::now();
  auto learned =
      co_await with.learner.route<&grpo_trainer::train_step>(std::move(groups), 1.0, std::nullopt);
  const auto left = at_least - (std::chrono::steady_clock::now() - began);
  if (left.count() > 0) co_await sleep_for(std::chrono::ceil<duration>(left));
  co_await push_weights(with.learner, with.roles.generators, with.roles.gate);
  co_return learned;
}

}  // namespace troupe
