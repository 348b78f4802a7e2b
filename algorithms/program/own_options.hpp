#pragma once
// Options of a program's own, beside those of the algorithms: a section of every configuration.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// A section of options, which options_section makes.
struct own_options {
  std::string name;  ///< The section's name: "my" for the option my.every.
  /// Reads the section and returns its values, those that are not set included. Throws
  /// config_error. `pointer` is the section's place in messages.
  std::function<nlohmann::json(const nlohmann::json& section, const std::string& pointer)> read;
  /// Returns the JSON Schema of the section.
  std::function<nlohmann::json()> schema;
  /// Returns the options without effect among the values that were read last.
  std::function<std::vector<idle_option>()> idle;
};

/// A section of options that are read into `*to`, which must outlive the program's run. T is a
/// struct with a function `describe(options_schema<T>&)` (runtime/config/options_schema.hpp), which
/// says its units, ranges and meanings. The values that `*to` has now are the defaults. `*to` has
/// the values of the configuration once a run's configuration has been read, and so in
/// program::callbacks; in processes and nodes that host replicas it keeps its defaults.
template <described_options T, class Json = nlohmann::json>
own_options options_section(std::string name, T* to) {
  const auto defaults = std::make_shared<const T>(*to);
  return {.name = std::move(name),
          .read =
              [defaults, to](const Json& section, const std::string& pointer) {
                auto values = *defaults;
                detail::struct_kind_of<T>().read(section, &values, pointer, {});
                *to = values;
                return to_json<T, Json>(values);
              },
          .schema = [defaults] { return configuration_schema<T, Json>(*defaults); },
          .idle =
              [defaults, to] {
                return detail::idle_options(detail::struct_kind_of<T>(), to, to, defaults.get());
              }};
}

/// Adds the sections to the configuration of an algorithm. A run's config.json then has them, so a
/// run that is resumed or evaluated reads its own. Throws std::invalid_argument for a name that is
/// empty or that the algorithm has.
named_algorithm with_own_options(named_algorithm algorithm, const std::vector<own_options>& own);

}  // namespace troupe
