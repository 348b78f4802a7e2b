#pragma once
// The schema of a whole configuration, with the defaults of an algorithm.

#include <nlohmann/json_fwd.hpp>

#include "runtime/config/config.hpp"

namespace troupe {

namespace detail {

/// The schema with the values of `resolved` as its defaults, also inside sections.
nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved);

}  // namespace detail

/// The JSON Schema of an algorithm's configuration, with the defaults of its runs. schema_json
/// alone would show the defaults of each section's struct, which several algorithms share and for
/// which an algorithm's configuration may have other values.
template <described_options Config, class Json = nlohmann::json>
Json configuration_schema(const Config& defaults = Config{}) {
  return detail::with_defaults(schema_json<Config, Json>(), to_json<Config, Json>(defaults));
}

}  // namespace troupe
