#pragma once
// The choice of a graph's engine.

#include <memory>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/network_stack.hpp"

namespace troupe {

/// Returns Troupe's kernels if `fused`, otherwise libtorch on the device of `link`.
std::unique_ptr<graph> make_graph(bool fused, const detail::device_link& link);

/// Returns the engine that computes the gradients of a network: Troupe's kernels, or libtorch if
/// choose_backend selects it, which is logged once. Throws as choose_backend.
std::unique_ptr<graph> make_graph(gradient_backend backend, const detail::network_stack& net);

/// Returns the engine of a rule that trains several networks, at least one: libtorch if one of them
/// needs it.
std::unique_ptr<graph> make_graph(gradient_backend backend,
                                  std::span<const detail::network_stack* const> nets);

}  // namespace troupe
