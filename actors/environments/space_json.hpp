#pragma once
// Spaces as JSON: as Python processes describe them, and as model files hold them.

#include <nlohmann/json_fwd.hpp>

#include "actors/environments/space.hpp"

namespace troupe {

/// Returns the space as an object with its "kind" and what it was made from, such as
/// {"kind": "discrete", "n": 2, "start": 0}. The bounds of a Box are one number if all are equal,
/// and null stands for a bound that is infinite. space_from_json reads it back.
nlohmann::json space_to_json(const space& what);

/// Returns the space that space_to_json or troupe_worker/spaces.py has described. Throws
/// std::invalid_argument for invalid bounds or sizes, and nlohmann::json::exception for another
/// form.
space space_from_json(const nlohmann::json& described);

}  // namespace troupe
