#pragma once
// The choice between hand-written gradients and libtorch's.

#include <string>

#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {

/// The facts about a network that decide which backend computes its gradients.
struct layer_facts {
  const mlp* net = nullptr;    ///< the perceptron, or the part after the extractor
  std::string extractor = {};  ///< feature_extractor::obstacle()
  bool is_on_host = true;
};

/// The chosen backend. If libtorch was chosen automatically, `reason` says why: "a layer of
/// 1024x1024 is faster with libtorch".
struct backend_choice {
  bool fused = true;
  std::string reason;  ///< empty if the backend is the one asked for
};

/// Chooses the backend. Throws std::invalid_argument if `fused` is asked for but not possible.
backend_choice choose_backend(gradient_backend asked, const layer_facts& facts);

/// Logs that libtorch computes the gradients if that was chosen automatically, once per process for
/// each reason.
void log_once(const backend_choice& choice);

}  // namespace troupe::detail
