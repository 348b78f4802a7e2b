#include "algorithms/run/openenv_environments.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include "actors/openenv/client/numeric_worlds.hpp"

namespace troupe {
namespace {

constexpr std::string_view prefix = "openenv:";

/// Asks a server for its spaces, once in this process.
env_spec spec_at(const openenv::client_options& servers) {
  static std::mutex mutex;
  static std::map<std::string, env_spec> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(servers.urls.front());
  if (found != known.end()) return found->second;
  auto spec = openenv::served_spec(servers);
  known.emplace(servers.urls.front(), spec);
  return spec;
}

void require_plain(const environment_request& request) {
  const auto refuse = [&](const char* option) {
    throw std::invalid_argument(request.id + ": " + option +
                                ": expected none, for the server decides about its environment");
  };
  if (request.options != "{}") refuse("env.options");
  if (!request.python.wrappers.empty()) refuse("env.wrappers");
  if (request.wrappers != wrapper_options{})
    refuse("env.max_episode_steps, frame_stack, rescale_action, reward_scale and reward_clip");
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

bool names_openenv(std::string_view id) { return id.starts_with(prefix); }

std::unique_ptr<vector_environment> openenv_environments::operator()() const {
  require_plain(request);
  openenv::client_options servers{.urls = {request.id.substr(prefix.size())}};
  servers.reply_timeout = milliseconds_of(request.python.step_timeout);
  servers.reset_timeout = milliseconds_of(request.python.reset_timeout);
  auto spec = spec_at(servers);
  spec.id = request.id;
  return openenv::make_numeric_worlds(openenv::served_view(std::move(spec)), std::move(servers),
                                      count);
}

}  // namespace troupe
