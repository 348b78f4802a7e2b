#include "actors/worlds/environment_host.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/metrics_observers.hpp"
#include "runtime/base/build_stamp.hpp"
#include "runtime/base/installed.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

/// True if the program was linked with the same build of Troupe, so that its file has the stamp.
bool is_of_this_build(const std::filesystem::path& program) {
  std::ostringstream bytes;
  bytes << std::ifstream(program, std::ios::binary).rdbuf();
  return bytes.view().find(detail::build_stamp()) != std::string_view::npos;
}

}  // namespace

std::string environment_host() {
  const auto path = detail::find_installed("libexec/troupe/env-host");
  if (path.empty() || is_of_this_build(path)) return path;
  log::warn("env-host is of another build of Troupe, so processes of this program take its place",
            {{"path", path.string()}, {"expected", detail::build_stamp()}});
  return {};
}

bool environment_host_has(const registered_environments& environments) {
  const auto& tasks = environments.tasks;
  if (tasks.empty()) return is_in_every_program(environments.request.id);
  return std::ranges::all_of(tasks,
                             [](const auto& task) { return is_in_every_program(task.name); });
}

role_to_host role_of_environment_host() {
  // What a program names is what it can receive.
  [[maybe_unused]] const hosted_environment::factory factory = registered_environments{};
  [[maybe_unused]] const auto observers = observers_of({}, {});
  using hosted = hosted_environment;
  return role_made_from<hosted, hosted::factory, std::uint64_t, env_observers,
                        std::optional<double>,
                        std::size_t>::with<&hosted::spec, &hosted::size, &hosted::observe,
                                           &hosted::step, &hosted::set_level, &hosted::set_options,
                                           &hosted::set_attr, &hosted::set_turns,
                                           &hosted::take_graded, &hosted::save, &hosted::restore>();
}

}  // namespace troupe
