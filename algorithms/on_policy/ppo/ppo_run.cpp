#include "actors/torch.hpp"

#include "algorithms/on_policy/ppo/ppo_run.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/ppo/ppo_cast.hpp"

namespace troupe {

trainable trainable_of(const ppo_config& config) {
  auto settings = detail::settings_of(config);
  // Those of another algorithm are told by its own configuration.
  if (config.document.empty()) settings.idle = idle_options_of(config, idle_rules_of(config));
  return {settings,
          [config](system& sys, training_output output, training_callbacks callbacks) {
            return std::make_unique<detail::production>(sys, config, std::move(output),
                                                        std::move(callbacks));
          },
          [settings] { require_network(settings); }};
}

ppo_result run_ppo(const ppo_config& config, ppo_output output, const ppo_run_options& options,
                   std::optional<checkpoint> from) {
  return run_training(trainable_of(config), std::move(output), options, std::move(from));
}

ppo_resumption open_ppo_run(const std::string& directory, metrics_registry& metrics) {
  const auto run = run_directory::open(directory);
  auto config = parse_config<ppo_config>(read_json_file(run.config_json()));
  auto from = newest_checkpoint(directory, detail::settings_of(config), metrics);
  return {std::move(config), std::move(from)};
}

}  // namespace troupe
