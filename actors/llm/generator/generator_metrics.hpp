#pragma once
// The Prometheus metrics of the role generator.

#include "actors/llm/generator/generation_engine.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::llm {

/// The Prometheus metrics of generators, summed over those of one process.
class generator_metrics {
 public:
  /// If `registry` is null, nothing is counted.
  explicit generator_metrics(metrics_registry* registry) {
    if (!registry) return;
    generated_ = registry->counter("troupe_llm_generated_tokens_total", "Tokens sampled.");
    prefill_ = registry->counter("troupe_llm_prefill_tokens_total", "Tokens of prompts computed.");
    steps_ = registry->counter("troupe_llm_steps_total", "Forward passes of generators.");
    busy_ = registry->gauge("troupe_llm_slots_busy", "Answers that are being written.");
    queued_ = registry->gauge("troupe_llm_answers_queued", "Answers that wait for a slot.");
    swaps_ = registry->counter("troupe_llm_weight_swaps_total",
                               "Weights taken by generators, also in the middle of answers.");
  }
  generator_metrics(const generator_metrics&) = delete;
  ~generator_metrics() {
    auto gone = told_;
    gone.busy = gone.queued = 0;
    changed(gone);
  }

  /// Adds the difference between the engine's counts now and at the last call.
  void changed(const engine_counts& now) {
    generated_.increment(static_cast<double>(now.generated_tokens - told_.generated_tokens));
    prefill_.increment(static_cast<double>(now.prefill_tokens - told_.prefill_tokens));
    steps_.increment(static_cast<double>(now.steps - told_.steps));
    busy_.increment(static_cast<double>(now.busy - told_.busy));
    queued_.increment(static_cast<double>(now.queued - told_.queued));
    told_ = now;
  }
  void swapped() const { swaps_.increment(); }

 private:
  metric_counter generated_, prefill_, steps_, swaps_;
  metric_gauge busy_, queued_;
  engine_counts told_;
};

}  // namespace troupe::llm
