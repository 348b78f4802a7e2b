#include "actors/networks/backend_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "runtime/base/told_once.hpp"

namespace troupe::detail {
namespace {

// A layer with at least this many weights is faster with libtorch, because OpenBLAS's products
// outweigh libtorch's overhead. The table has the CPU time of a PPO minibatch by the kernels
// divided by that of libtorch, on a Xeon with AVX-512 and 2 MiB of L2 cache, from `./dev bench
// widths`:
//
//   hidden      batch 64   batch 256
//   400-300       0.56       0.61
//   512-512       0.81       0.72
//   768-768       1.08       0.93
//   1024-1024     1.67       1.82
constexpr std::int64_t wide = 1024 * 1024;

std::int64_t weights(const dense_layer& layer) { return std::int64_t{layer.in} * layer.out; }

/// Returns why the hand-written kernels can't compute the gradients; empty if they can.
std::string obstacle(const layer_facts& facts) {
  if (!facts.extractor.empty()) return facts.extractor;
  if (!facts.is_on_host) return "the fused kernels run on the CPU only";
  if (facts.net->has_backward()) return {};
  return std::string("the activation ") + to_string(facts.net->hidden_activation()) +
         " has no fused gradient";
}

}  // namespace

backend_choice choose_backend(gradient_backend asked, const layer_facts& facts) {
  if (asked == gradient_backend::libtorch) return {.fused = false};
  const auto why_not = obstacle(facts);
  if (asked == gradient_backend::fused) {
    if (why_not.empty()) return {};
    throw std::invalid_argument("policy.backend fused: " + why_not +
                                "; expected libtorch, or auto");
  }
  if (!why_not.empty()) return {.fused = false, .reason = why_not};
  const auto& widest = *std::ranges::max_element(facts.net->layers(), {}, weights);
  if (weights(widest) < wide) return {};
  return {.fused = false,
          .reason = "a layer of " + std::to_string(widest.in) + "x" + std::to_string(widest.out) +
                    " is faster with libtorch"};
}

void log_once(const backend_choice& choice) {
  if (choice.fused || choice.reason.empty()) return;
  log::info_once("libtorch computes the gradients: " + choice.reason);
}

}  // namespace troupe::detail
