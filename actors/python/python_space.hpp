#pragma once
// Internal to this folder: the spaces that a Python process describes.

#include <nlohmann/json_fwd.hpp>

#include "actors/environments/space.hpp"

namespace troupe {

/// Returns the space that troupe_worker/spaces.py has described. Throws std::invalid_argument for
/// invalid bounds or sizes, and nlohmann::json::exception for another form.
space python_space(const nlohmann::json& described);

}  // namespace troupe
