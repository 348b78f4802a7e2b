#pragma once
// Whether this machine can make sandboxes, and what it lacks if it can't.

#include <string>
#include <vector>

#include "actors/sandbox/sandbox_options.hpp"

namespace troupe {

/// What a sandbox needs, or can use.
struct sandbox_check {
  std::string what;  ///< such as "user namespaces"
  bool is_met = false;
  bool is_needed = true;  ///< false for what only makes limits stricter
  std::string found;      ///< what there is, or what is missing and how to get it
};

/// Checks what sandboxes need, one after another, and runs a program in one. Takes about 0.1 s, and
/// 15 s at most.
std::vector<sandbox_check> check_sandbox();

/// Throws sandbox_unavailable for the first check that is needed and not met.
void require_sandbox();

}  // namespace troupe
