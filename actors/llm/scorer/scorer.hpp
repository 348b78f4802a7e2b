#pragma once
// The role that scores given tokens, such as the reference model of a policy.

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

/// The log-probabilities that a scorer has computed for one request.
struct scored_tokens {
  std::vector<double> log_probs;  ///< one for each token after the given ones
  std::int64_t version = 0;       ///< the version of the weights
};

/// The role that computes the log-probabilities of given tokens. With weights that are never
/// updated it is the reference model of a policy. Its calls take long, so it should be served with
/// placement::thread or in a process, and with a `max_batch` of a few groups.
class scorer {
 public:
  /// The weights come from the store, as one block of floats (flat_weights.hpp).
  scorer(model_config config, service<weight_store> store);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Scores concurrent requests as one batch. Requests that begin with the same given tokens share
  /// their computation. An invalid request gets an error of its own.
  batch<scored_tokens> score(batch<score_request> requests);

  /// Swaps in newer weights. Weights that are not newer than those in use are ignored.
  void update(weights fresh);
  std::int64_t version() const { return version_; }
  /// The number of tokens that have gone through the model so far.
  std::int64_t computed() const { return scorer_ ? scorer_->computed() : 0; }

 private:
  model_config config_;
  service<weight_store> store_;
  std::optional<token_scorer> scorer_;
  std::int64_t version_ = -1;
};

}  // namespace troupe::llm
