#pragma once
#include <cstddef>

#include "actors/networks/network_stack.hpp"
#include "algorithms/learner/skip_guard.hpp"

/// What DQN's, SAC's and TD3's learners have in common.
namespace troupe::detail {

/// Throws std::invalid_argument: "dqn state: target of 3 numbers, expected 5".
void expect_size(const char* algorithm, const char* what, std::size_t got, std::size_t expected);

/// Whether the gradients of these networks are worked out by hand, as choose_backend says; what it
/// leaves to libtorch is logged once.
bool uses_fused(gradient_backend backend, const network_stack& net);

}  // namespace troupe::detail
