#pragma once
#include <string>

#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {

/// What decides who works out the gradients of a network.
struct layer_facts {
  const mlp* net = nullptr;  ///< the perceptron, or what follows the convolutions
  bool has_convolutions = false;
  bool is_on_host = true;
};

/// Who does, and where it is libtorch by itself, why: "a layer of 1024x1024 is faster so".
struct backend_choice {
  bool fused = true;
  std::string reason;  ///< empty where it is as asked
};

/// Throws std::invalid_argument if `fused` is asked for where it can't be.
backend_choice choose_backend(gradient_backend asked, const layer_facts& facts);

/// Says in the log, once a process for each reason, that libtorch works out the gradients, if it
/// does so by itself.
void log_once(const backend_choice& choice);

}  // namespace troupe::detail
