#pragma once

#include <string>
#include <vector>

#include "algorithms/grpo/grpo_options.hpp"

namespace troupe {

/// An option that isn't as it is by default, and changes nothing beside the others.
struct idle_option {
  std::string name;   ///< "clip_low"
  std::string value;  ///< as in JSON
  std::string why;
};

/// All of them; of options that are null where nobody has asked for a value.
std::vector<idle_option> idle_options(const grpo_options& options);

}  // namespace troupe
