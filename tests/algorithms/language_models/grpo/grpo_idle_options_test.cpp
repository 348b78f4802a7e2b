// The options of a GRPO configuration that have no effect.
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

std::vector<idle_option> idle_options(const grpo_config& config) {
  return idle_options_of(config, completed(config, find_task(config.task.name)));
}

std::vector<std::string> idle_of(const grpo_config& config) {
  std::vector<std::string> names;
  for (const auto& each : idle_options(config)) names.push_back(each.name + "=" + each.value);
  return names;
}

/// Of a trainer's options, by their names there.
std::vector<std::string> idle_of(const grpo_options& options) {
  grpo_config config;
  config.trainer = options;
  auto names = idle_of(config);
  for (auto& name : names) name = name.substr(name.find('.') + 1);
  return names;
}

using names = std::vector<std::string>;

TEST_CASE("grpo_idle_options: what is as by default is never blamed") {
  for (const auto variant :
       {grpo_variant::grpo, grpo_variant::dr_grpo, grpo_variant::dapo, grpo_variant::gspo,
        grpo_variant::cispo, grpo_variant::rloo, grpo_variant::reinforce}) {
    CHECK(idle_of(grpo_options{.variant = variant}) == names{});
  }
}

TEST_CASE("grpo_idle_options: options of another term are told") {
  const grpo_options clips{.clip_low = 0.1, .clip_high = 0.3, .dual_clip = 0.0};
  CHECK(idle_of(clips) == names{"clip_high=0.3", "clip_low=0.1", "dual_clip=0.0"});
  auto clipped = clips;
  clipped.variant = grpo_variant::grpo;
  CHECK(idle_of(clipped) == names{});
  clipped.cispo_max = 2.0;
  CHECK(idle_of(clipped) == names{"cispo_max=2.0"});
  CHECK(idle_of(grpo_options{.variant = grpo_variant::rloo,
                             .ratio = ratio_level::sequence,
                             .proximal = proximal_policy::recomputed}) ==
        names{"proximal=\"recomputed\"", "ratio=\"sequence\""});
}

TEST_CASE("grpo_idle_options: corrections where there is nothing to correct are told") {
  const grpo_options asked{.correction = correction_kind::truncate,
                           .correction_by = correction_level::sequence,
                           .correction_max = 2.0};
  CHECK(idle_of(asked) ==
        names{"correction=\"truncate\"", "correction_by=\"sequence\"", "correction_max=2.0"});
  auto corrected = asked;
  corrected.epochs = 2;
  CHECK(idle_of(corrected) == names{});
  corrected.correction_min = 0.5;
  CHECK(idle_of(corrected) == names{"correction_min=0.5"});
  corrected.correction = correction_kind::mask;
  CHECK(idle_of(corrected) == names{});
  corrected.correction = correction_kind::none;
  CHECK(idle_of(corrected) ==
        names{"correction_by=\"sequence\"", "correction_max=2.0", "correction_min=0.5"});
  CHECK(idle_of(grpo_options{.variant = grpo_variant::rloo, .correction = correction_kind::none}) ==
        names{});
}

TEST_CASE(
    "grpo_idle_options: penalties, deviations and zero-variance groups that there aren't are "
    "told") {
  CHECK(idle_of(grpo_options{.kl_in = kl_place::reward, .kl = kl_kind::k2}) ==
        names{"kl=\"k2\"", "kl_in=\"reward\""});
  CHECK(idle_of(grpo_options{.kl_coef = 0.1, .kl_in = kl_place::reward, .kl = kl_kind::k2}) ==
        names{"kl=\"k2\""});
  CHECK(idle_of(grpo_options{.kl_coef = 0.1, .kl = kl_kind::k2}) == names{});
  const grpo_options refreshed{.reference_every_updates = 5, .reference_mixup = 0.5};
  CHECK(idle_of(refreshed) == names{"reference_every_updates=5", "reference_mixup=0.5"});
  CHECK(idle_of(grpo_options{.kl_coef = 0.1, .reference_mixup = 0.5}) ==
        names{"reference_mixup=0.5"});
  auto penalised = refreshed;
  penalised.kl_coef = 0.1;
  CHECK(idle_of(penalised) == names{});
  CHECK(idle_of(grpo_options{.variant = grpo_variant::dr_grpo, .advantage_eps = 0.1}) ==
        names{"advantage_eps=0.1"});
  CHECK(idle_of(grpo_options{.advantage = advantage_kind::reward,
                             .zero_variance_groups = zero_variance_rule::drop}) ==
        names{"zero_variance_groups=\"drop\""});
  CHECK(idle_of(grpo_options{.zero_variance_groups = zero_variance_rule::drop}) == names{});
  grpo_config config;
  config.trainer = {.term = policy_term::clip, .cispo_max = 2.0};
  CHECK(idle_options(config).front().why == "it has an effect only if trainer.term is cispo");
  config.trainer = {.kl_in = kl_place::reward, .kl = kl_kind::k2};
  CHECK(idle_options(config).front().why ==
        "it has an effect only if trainer.kl_coef is above 0 and trainer.kl_in is loss");
}

TEST_CASE("grpo_idle_options: options of adapters that there aren't, and of their moments") {
  grpo_options options{.lora = {.alpha = 8.0, .targets = {llm::projection::q}}};
  CHECK(idle_of(options) == names{"lora.alpha=8.0", "lora.targets=[\"q\"]"});
  options.lora.rank = 4;
  CHECK(idle_of(options) == names{});
  grpo_config config;
  config.trainer = options;
  config.warm_start.keep_moments = true;
  CHECK(idle_of(config) == names{"warm_start.keep_moments=true"});
}

TEST_CASE("grpo_idle_options: sections that a run has no use for are told") {
  grpo_config config;
  config.evaluation = {.every_updates = 0, .problems = 50, .final_problems = 60, .stop_at = 0.9};
  config.warm_start = {
      .data = "a.jsonl", .batches = 0, .batch_size = 8, .lr = 1e-2, .keep_moments = false};
  config.rollout.workers = 3;
  config.rollout.max_staleness = 2;
  config.task.shots = 2;
  config.code.coders = 5;
  config.world.replicas = 7;
  config.checkpoint.keep = 9;
  CHECK(idle_of(config) == names{"checkpoint.keep=9", "code.coders=5", "evaluation.problems=50",
                                 "evaluation.stop_at=0.9", "rollout.max_staleness=2",
                                 "rollout.workers=3", "task.shots=2", "warm_start.batch_size=8",
                                 "warm_start.data=\"a.jsonl\"", "warm_start.keep_moments=false",
                                 "warm_start.lr=0.01", "world.replicas=7"});
  config.mode = training_mode::async;
  config.evaluation.every_updates = 10;
  config.warm_start.batches.reset();
  config.checkpoint.every_updates = 1;
  config.task = {.name = "blackjack", .problems = {.training = 10}, .shots = 0};
  CHECK(idle_of(config) == names{"code.coders=5", "task.problems.training=10"});
}

TEST_CASE("grpo_idle_options: the reader of Parquet files is Python, too") {
  grpo_config config;
  config.task.name = "python:a:b";
  config.python = {.interpreter = "python3", .prompt_timeout = 5};
  CHECK(idle_of(config) == names{});
  config.task.name = "sum_digits";
  CHECK(idle_of(config) == names{"python.interpreter=\"python3\"", "python.prompt_timeout=5.0"});
  auto used = completed(config, find_task("sum_digits"));
  used.task.data = "sums.parquet";
  const auto idle = idle_options_of(config, used);
  REQUIRE(idle.size() == 1);
  CHECK(idle.front().name == "python.prompt_timeout");
}

}  // namespace
}  // namespace troupe
