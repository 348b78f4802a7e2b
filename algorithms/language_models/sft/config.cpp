#include "algorithms/language_models/sft/config.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace troupe {

double learning_rate(const sft_options& o, std::int64_t update) {
  if (update < o.warmup_updates)
    return o.lr * static_cast<double>(update + 1) / static_cast<double>(o.warmup_updates);
  if (o.schedule == sft_schedule::constant) return o.lr;
  const auto after = static_cast<double>(update - o.warmup_updates);
  const auto whole = static_cast<double>(o.total_updates - o.warmup_updates);
  const double share = 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(1.0, after / whole)));
  return o.lr * (o.final_share + (1.0 - o.final_share) * share);
}

void describe(enum_schema<sft_schedule>& s) {
  s.name("constant", sft_schedule::constant).name("cosine", sft_schedule::cosine);
}

void describe(options_schema<sft_options>& s) {
  s.field("lr", &sft_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("AdamW's step size after the warm-up.");
  s.field("schedule", &sft_options::schedule)
      .also_known_as({"lr_scheduler_type"})
      .help("The step size after the warm-up: it stays constant, or falls along half a cosine.");
  s.field("warmup_updates", &sft_options::warmup_updates)
      .also_known_as({"warmup_steps"})
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates over which the step size rises linearly to lr; the first update "
          "has lr / warmup_updates.");
  s.field("total_updates", &sft_options::total_updates)
      .also_known_as({"max_steps"})
      .at_least(0)
      .unit("updates")
      .help("The number of updates after which the cosine schedule has reached its end.");
  s.field("final_share", &sft_options::final_share)
      .at_least(0)
      .at_most(1)
      .help("The share of lr that is left at the end of the cosine schedule.");
  s.field("micro_tokens", &sft_options::micro_tokens)
      .at_least(1)
      .unit("tokens")
      .help(
          "The most tokens in one forward pass, which takes at least one example. A smaller "
          "number takes less memory and does not change the result.");
  s.field("compute", &sft_options::compute)
      .also_known_as({"bf16"})
      .help(
          "The type in which linear layers are computed. Weights and optimiser are float with "
          "either. bf16 is faster on CPUs with AVX-512 BF16, and many times slower on CPUs without "
          "AVX-512.");
  s.field("recompute_layers", &sft_options::recompute_layers)
      .also_known_as({"gradient_checkpointing"})
      .help(
          "true computes each layer twice instead of keeping the data that its gradient needs, "
          "which saves memory.");
  describe_adamw(s);
  s.rule("total_updates", "more than warmup_updates, where schedule is cosine",
         [](const sft_options& o) {
           return o.schedule == sft_schedule::constant || o.total_updates > o.warmup_updates;
         });
}

namespace llm {
void describe(enum_schema<compute_type>& s) {
  s.name("f32", compute_type::f32).name("bf16", compute_type::bf16);
}
}  // namespace llm

}  // namespace troupe
