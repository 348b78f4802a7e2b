#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/config/config.hpp"

namespace troupe {

namespace detail {

/// The schema with the values of `resolved` as its defaults, those of options inside of sections
/// too.
nlohmann::json with_defaults(nlohmann::json schema, const nlohmann::json& resolved);

}  // namespace detail

/// schema_json of an algorithm's configuration, with the defaults that a run of it has. A section
/// is a struct that several algorithms share, and an algorithm's configuration can begin with other
/// values in it: there schema_json tells of the struct's.
template <described_options Config, class Json = nlohmann::json>
Json configuration_schema(const Config& defaults = Config{}) {
  return detail::with_defaults(schema_json<Config, Json>(), to_json<Config, Json>(defaults));
}

}  // namespace troupe
