#pragma once
// An algorithm under the name by which a command line and a run's config.json ask for it:
//
//   algorithm_of<ppo_config>("ppo", "proximal policy optimisation")
//
// A program's own is one as well: its configuration is a struct that `describe` describes, and
// algorithm_with makes the rest of it.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/run/option_rules.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// What the command line alone can allow, and no configuration file.
struct run_permissions {
  bool unsandboxed_code = false;  ///< To run what a model writes without a sandbox.
};

/// How well a language model answers.
struct model_evaluation {
  evaluation seen;
  std::string verdict;  ///< For people: "93.5 % right of 200 held-out problems".
};

/// Something that a language model is taught, for lists.
struct named_task {
  std::string name;
  std::string help;  ///< In a few words.
};

struct named_algorithm {
  std::string name;
  std::string help;  ///< In a few words.
  /// Reads a configuration. Throws config_error.
  std::function<algorithm(const nlohmann::json& document, const run_permissions& may)> configure;
  /// The configuration's JSON Schema, with the defaults that a run has.
  std::function<nlohmann::json()> schema;
  /// What it teaches language models, which makes it one of theirs; none: it learns on an
  /// environment.
  std::vector<named_task> tasks = {};
  /// Of one with tasks: how well the model in a run's folder answers so many held-out problems; 0:
  /// as many as the run's own evaluation at the end. Throws what configure does, and what is wrong
  /// with the model.
  std::function<model_evaluation(const nlohmann::json& document, const run_permissions& may,
                                 const std::filesystem::path& model, std::size_t problems)>
      evaluate = nullptr;
  /// Puts what is meant in the place of what was typed, in a new run's configuration, before it is
  /// read. May be null. Throws std::invalid_argument.
  std::function<void(nlohmann::json& document)> complete = nullptr;
};

namespace detail {

/// The document with `to` in the place of `from` where that is its algorithm's name.
nlohmann::json with_algorithm_name(nlohmann::json document, const std::string& from,
                                   const std::string& to);

/// A configuration that may allow what `may` allows.
template <class Config>
Config permitted(Config config, const run_permissions& may) {
  if constexpr (requires { config.allow_unsandboxed_code; })
    config.allow_unsandboxed_code = may.unsandboxed_code;
  return config;
}

}  // namespace detail

/// Reads a named algorithm's configuration, whose name may be another than the one in the Config's
/// own schema.
template <described_options Config>
Config read_named_config(const nlohmann::json& document, const run_permissions& may,
                         const Config& defaults) {
  auto config = parse_config<Config>(
      detail::with_algorithm_name(document, defaults.algo, Config{}.algo), defaults);
  config.algo = defaults.algo;
  return detail::permitted(std::move(config), may);
}

/// The algorithm that such a Config, which has a field `algo`, configures. `defaults`: what holds
/// where a run's configuration says nothing, so that one algorithm can have several names.
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
