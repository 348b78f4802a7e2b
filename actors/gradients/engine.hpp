#pragma once
// The choice of a graph's engine.

#include <memory>

#include "actors/gradients/graph.hpp"
#include "actors/networks/device_link.hpp"

namespace troupe {

/// Returns Troupe's kernels if `fused`, otherwise libtorch on the device of `link`.
std::unique_ptr<graph> make_graph(bool fused, const detail::device_link& link);

}  // namespace troupe
