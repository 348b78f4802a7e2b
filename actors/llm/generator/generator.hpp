#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/llm/generator/generation_engine.hpp"
#include "actors/llm/generator/generator_metrics.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/service.hpp"

namespace troupe::llm {

struct generator_options {
  model_config config;
  engine_options engine;
  token_texts texts;       ///< for stop texts and the answers' texts; may be empty
  std::uint64_t seed = 0;  ///< of requests without one
};

/// The role that writes: a generation_engine that all its callers share. A step is a turn of the
/// replica's, so requests, cancellations and weights come in between two steps. A caller that gives
/// up, or whose deadline passes, frees its slots.
///
/// Steps compute for long: serve it with placement::thread, or in a process. It is as many callers
/// as `max_ongoing` at a time. With generate and generate_group declared idempotent, what a killed
/// replica was writing is written again, the same where the request has a seed.
class generator {
 public:
  /// The weights are the store's: a model's, one float after the other (flat_weights.hpp).
  /// `metrics` may be null.
  generator(const replica_info& info, generator_options options, service<weight_store> store,
            metrics_registry* metrics = nullptr);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Throws as generation_engine::submit does.
  task<completion> generate(generation_request request);
  /// That many answers to one prompt, which is computed once, with seeds as by
  /// generation_engine::submit.
  task<std::vector<completion>> generate_group(generation_request request, std::int64_t answers);

  /// Swaps in newer weights between two steps; older ones than those in use are ignored. Answers
  /// that are being written go on with them, on the keys and values that are there.
  void update(weights fresh);
  std::int64_t version() const;

  engine_counts counts() const;

 private:
  class held_request;
  class wheel;
  task<std::vector<completion>> answers_to(generation_request request, std::int64_t answers);
  void step();

  generator_options options_;
  service<weight_store> store_;
  generator_metrics metrics_;
  std::uint64_t seeds_;  // of requests without one
  std::optional<generation_engine> engine_;
  bool driven_ = false;  // one of the waiting callers computes the steps
  condition stepped_;    // somebody's answers are finished, or nobody drives
};

}  // namespace troupe::llm
