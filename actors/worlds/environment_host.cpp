#include "actors/worlds/environment_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/metrics_observers.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

namespace detail {

/// The path of the installed program. Programs that find_package(troupe) configures define it, and
/// so do those of Troupe's build that are not installed.
extern const char* const installed_environment_host [[gnu::weak]];

}  // namespace detail

std::string environment_host() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = (self.parent_path() / "env-host").string();
  if (!error && access(beside.c_str(), X_OK) == 0) return beside;
  if (&detail::installed_environment_host == nullptr) return {};
  const char* installed = detail::installed_environment_host;
  return access(installed, X_OK) == 0 ? installed : "";
}

bool environment_host_has(const registered_environments& environments) {
  if (environments.tasks.empty()) return is_built_in(environments.id);
  return std::ranges::all_of(environments.tasks,
                             [](const env_task& task) { return is_built_in(task.name); });
}

role_to_host role_of_environment_host() {
  // What a program names is what it can receive.
  [[maybe_unused]] const hosted_environment::factory factory = registered_environments{};
  [[maybe_unused]] const auto observers = observers_of({}, {});
  using hosted = hosted_environment;
  return role_made_from<hosted, hosted::factory, std::uint64_t, env_observers,
                        std::optional<double>,
                        std::size_t>::with<&hosted::spec, &hosted::size, &hosted::observe,
                                           &hosted::step, &hosted::set_level, &hosted::set_turns,
                                           &hosted::take_graded, &hosted::save, &hosted::restore>();
}

}  // namespace troupe
