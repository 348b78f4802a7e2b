#pragma once
// An algorithm with the name by which the command line and a run's config.json select it:
//
//   algorithm_of<ppo_config>("ppo", "proximal policy optimisation")
//
// A program adds its own algorithm in the same way. It needs a configuration struct, a function
// `describe` of that struct and a function `algorithm_with` that makes the algorithm from it.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/run/configuration_schema.hpp"
#include "algorithms/run/other_names.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// Permissions that only the command line can give, not a configuration file.
struct run_permissions {
  bool unsandboxed_code = false;  ///< Allows code written by a model to run without a sandbox.
};

/// The result of evaluating a language model.
struct model_evaluation {
  evaluation seen;
  std::string verdict;  ///< A line for people: "93.5 % right of 200 held-out problems".
};

/// A task that a language model can be taught, as lists show it.
struct named_task {
  std::string name;
  std::string help;  ///< A description of a few words.
};

struct named_algorithm {
  std::string name;
  std::string help;  ///< A description of a few words.
  /// Reads a configuration and makes the algorithm. Throws config_error.
  std::function<algorithm(const nlohmann::json& document, const run_permissions& may)> configure;
  /// Returns the configuration's JSON Schema, with the defaults of a run.
  std::function<nlohmann::json()> schema;
  /// The tasks that it teaches language models. Empty for an algorithm that learns on an
  /// environment.
  std::vector<named_task> tasks = {};
  /// Evaluates the model in a run's folder on so many held-out problems or examples; 0 means as
  /// many as the run's own evaluation at the end. Only an algorithm for language models sets it.
  /// Throws config_error, and an error if the model can't be read.
  std::function<model_evaluation(const nlohmann::json& document, const run_permissions& may,
                                 const std::filesystem::path& model, std::size_t problems)>
      evaluate = nullptr;
  /// Replaces abbreviations in the configuration of a new run before it is read. May be null.
  /// Throws std::invalid_argument.
  std::function<void(nlohmann::json& document)> complete = nullptr;
};

namespace detail {

/// Returns the document with the algorithm's name `from`, if it has that name, replaced by `to`.
nlohmann::json with_algorithm_name(nlohmann::json document, const std::string& from,
                                   const std::string& to);

/// Returns the configuration with the permissions `may`, if it has an option for them.
template <class Config>
Config permitted(Config config, const run_permissions& may) {
  if constexpr (requires { config.allow_unsandboxed_code; })
    config.allow_unsandboxed_code = may.unsandboxed_code;
  return config;
}

}  // namespace detail

/// Reads a named algorithm's configuration. Throws config_error, which tells our name of an option
/// that has the name of another library. The algorithm's name, defaults.algo, may differ from
/// the name in Config's own schema.
template <described_options Config>
Config read_named_config(const nlohmann::json& document, const run_permissions& may,
                         const Config& defaults) {
  const auto named = detail::with_algorithm_name(document, defaults.algo, Config{}.algo);
  try {
    auto config = parse_config<Config>(named, defaults);
    config.algo = defaults.algo;
    return detail::permitted(std::move(config), may);
  } catch (const config_error& error) {
    throw with_our_name(error, Config{}.algo);
  }
}

/// Makes the named algorithm that a Config with a field `algo` configures. `defaults` are the
/// values of options that a run's configuration does not set; with other defaults one algorithm can
/// have several names.
template <described_options Config>
named_algorithm algorithm_of(std::string name, std::string help, Config defaults = {}) {
  defaults.algo = name;
  return {.name = std::move(name),
          .help = std::move(help),
          .configure =
              [defaults](const nlohmann::json& document, const run_permissions& may) {
                return algorithm_with(read_named_config(document, may, defaults));
              },
          .schema =
              [defaults] {
                auto schema = configuration_schema(defaults);
                schema["properties"]["algo"]["enum"] = {defaults.algo};
                return schema;
              }};
}

}  // namespace troupe
