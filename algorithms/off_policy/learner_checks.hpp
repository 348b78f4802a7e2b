#pragma once
#include <cstddef>
#include <memory>

#include "actors/gradients/graph.hpp"
#include "actors/networks/network_stack.hpp"
#include "algorithms/learner/skip_guard.hpp"

/// Checks that the off-policy learners have in common.
namespace troupe::detail {

/// Throws std::invalid_argument if the sizes differ, such as "dqn state: target of 3 numbers,
/// expected 5".
void expect_size(const char* algorithm, const char* what, std::size_t got, std::size_t expected);

/// True if choose_backend selects hand-written kernels for the gradients of this network. If it
/// selects libtorch, that is logged once.
bool uses_fused(gradient_backend backend, const network_stack& net);

}  // namespace troupe::detail

namespace troupe {

/// Makes the graph that computes the gradients of a network: on Troupe's kernels, or on libtorch if
/// choose_backend selects it, which is logged once.
std::unique_ptr<graph> make_graph(gradient_backend backend, const detail::network_stack& net);

}  // namespace troupe
