#pragma once
#include <cstddef>

#include "actors/gradients/engine.hpp"
#include "algorithms/learner/skip_guard.hpp"

/// Checks that the off-policy learners have in common.
namespace troupe::detail {

/// Throws std::invalid_argument if the sizes differ, such as "dqn state: target of 3 numbers,
/// expected 5".
void expect_size(const char* algorithm, const char* what, std::size_t got, std::size_t expected);

}  // namespace troupe::detail
