#pragma once
// The role that generates text with a language model, for GRPO and other callers.

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
  token_texts texts;       ///< for stop texts and the texts of answers; may be empty
  std::uint64_t seed = 0;  ///< the source of the seeds of requests without one
};

/// The role that writes answers. All callers of a replica share one generation_engine. Each step is
/// a turn of the actor, so that requests, cancellations and weights are handled between two steps.
/// A caller that gives up or whose deadline passes frees its slots.
///
/// Steps take long, so it should be served with placement::thread or in a process. `max_ongoing` is
/// the number of callers at the same time. If generate and generate_group are declared idempotent,
/// a lost replica's answers are written again elsewhere, and are the same if the request has a
/// seed.
class generator {
 public:
  /// The weights come from the store, as one block of floats (flat_weights.hpp). `metrics` may be
  /// null.
  generator(const replica_info& info, generator_options options, service<weight_store> store,
            metrics_registry* metrics = nullptr);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Writes one answer. Throws like generation_engine::submit.
  task<completion> generate(generation_request request);
  /// Writes several answers to one prompt, which is computed once. Their seeds are those of
  /// generation_engine::submit.
  task<std::vector<completion>> generate_group(generation_request request, std::int64_t answers);

  /// Swaps in newer weights between two steps. Weights that are not newer than those in use are
  /// ignored. Unfinished answers continue with the new weights and keep their keys and values.
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
  std::uint64_t seeds_;  // the source of seeds for requests without one
  std::optional<generation_engine> engine_;
  bool driven_ = false;  // true if one of the waiting callers computes the steps
  condition stepped_;    // signalled when answers are finished or no caller computes the steps
};

}  // namespace troupe::llm
