#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/scorer/token_scorer.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/service/options/batch.hpp"
#include "runtime/service/service.hpp"

namespace troupe::llm {

struct scored_tokens {
  std::vector<double> log_probs;  ///< of each token that was not given
  std::int64_t version = 0;       ///< of the weights
};

/// The role that says how likely given tokens are. With weights that nobody updates it is the
/// reference model of a policy. It computes for long: serve it with placement::thread, or in a
/// process, and with `max_batch` of a few groups.
class scorer {
 public:
  /// The weights are the store's: a model's, one float after the other (flat_weights.hpp).
  scorer(model_config config, service<weight_store> store);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Concurrent requests become one; those that begin with the same given tokens share these. One
  /// that can't be meant gets an error of its own.
  batch<scored_tokens> score(batch<score_request> requests);

  /// Swaps in newer weights; older ones than those in use are ignored.
  void update(weights fresh);
  std::int64_t version() const { return version_; }
  /// Tokens that went through the model so far.
  std::int64_t computed() const { return scorer_ ? scorer_->computed() : 0; }

 private:
  model_config config_;
  service<weight_store> store_;
  std::optional<token_scorer> scorer_;
  std::int64_t version_ = -1;
};

}  // namespace troupe::llm
