#include "algorithms/run/openenv_environments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>

#include "actors/openenv/client/server_options.hpp"
#include "actors/openenv/client/view_discovery.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/config.hpp"

namespace troupe::openenv {

/// The options of such environments (env.options).
struct numeric_options : server_options {
  json_object view = {};  ///< A json_view, or a part of it.
};

static void describe(options_schema<numeric_options>& s) {
  s.field("view", &numeric_options::view)
      .help(
          "Which values of the JSON are the numbers of observations and actions. What is left out "
          "is found out from the server.");
  describe_servers(s);
}

}  // namespace troupe::openenv

namespace troupe {
namespace {

void require_plain(const environment_request& request) {
  const auto refuse = [&](const char* option) {
    throw std::invalid_argument(request.id + ": " + option +
                                ": expected none, for the server decides about its environment");
  };
  if (request.reset_options != "{}") refuse("env.reset_options");
  if (!request.python.wrappers.empty()) refuse("env.wrappers");
  if (request.wrappers != wrapper_options{})
    refuse("env.max_episode_steps, frame_stack, rescale_action, reward_scale and reward_clip");
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

openenv::numeric_options options_of(const environment_request& request) {
  try {
    const auto options = parse_json(request.options, "env.options");
    const auto view = options.find("view");
    if (view != options.end() && !view->is_object())
      throw config_error("/view",
                         R"(expected an object such as {"observation": "/position", "action": )"
                         R"({"pointer": "/move", "n": 3}}, got )" +
                             detail::show(*view));
    return parse_config<openenv::numeric_options>(options);
  } catch (const config_error& error) {
    throw std::invalid_argument(request.id + ": env.options: " + error.what());
  }
}

openenv::client_options servers_of(const environment_request& request) {
  auto servers = openenv::servers_of(request.id, options_of(request), "env.options");
  servers.reply_timeout = milliseconds_of(request.python.step_timeout);
  servers.reset_timeout = milliseconds_of(request.python.reset_timeout);
  servers.named_by.reply = "env.step_timeout";
  servers.named_by.reset = "env.reset_timeout";
  return servers;
}

/// What this process knows of servers, by the environment's name and options.
std::string key_of(const environment_request& request) {
  return request.id + '\n' + request.options;
}

/// Asks a server for its view, once in this process.
openenv::found_view view_of(const environment_request& request,
                            const openenv::client_options& servers) {
  static std::mutex mutex;
  static std::map<std::string, openenv::found_view> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(key_of(request));
  if (found != known.end()) return found->second;
  const auto asked = openenv::read_view(parse_json(options_of(request).view.text, "view"),
                                        request.id + ": env.options: /view");
  return known.emplace(key_of(request), openenv::discover_view(servers, asked)).first->second;
}

/// Returns the counts of the environments that a request makes in this process.
std::shared_ptr<openenv::ended_episodes> ended_of(const environment_request& request) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<openenv::ended_episodes>> known;
  const std::lock_guard lock(mutex);
  auto& found = known[key_of(request)];
  if (!found) found = std::make_shared<openenv::ended_episodes>();
  return found;
}

std::mutex room_mutex;
std::map<std::string, int>& known_rooms() {
  static std::map<std::string, int> rooms;
  return rooms;
}

}  // namespace

bool names_openenv(std::string_view id) { return id.starts_with(openenv::server_prefix); }

std::unique_ptr<vector_environment> openenv_environments::operator()() const {
  require_plain(request);
  auto servers = servers_of(request);
  const auto found = view_of(request, servers).view;
  auto view = openenv::numeric_view_of(found, openenv::spec_of(found, request.id));
  view.ended = ended_of(request);
  return openenv::make_numeric_worlds(std::move(view), std::move(servers), count);
}

std::shared_ptr<openenv::ended_episodes> openenv_environments::ended() const {
  return ended_of(request);
}

openenv_view openenv_environments::view() const {
  require_plain(request);
  const auto [view, left_out] = view_of(request, servers_of(request));
  return {"env.options.view=" + openenv::to_json(view).dump(), left_out};
}

int find_openenv_room(const environment_request& request, int training, int evaluations,
                      int wanted) {
  require_plain(request);
  const auto all = training + evaluations * wanted;
  const auto least = training + evaluations;
  const auto room = openenv::room_for(servers_of(request), static_cast<std::size_t>(all));
  const int got = static_cast<int>(room.sessions);
  if (got < least) {
    try {
      std::rethrow_exception(room.refusal);
    } catch (const openenv::error& error) {
      throw openenv::error(
          openenv::failure::capacity,
          fmt::format("{}: expected room for at least {} sessions at the same time, {} of "
                      "training (env.n_envs * env.replicas) and {} of evaluations, got {}: {}. "
                      "OpenEnv's servers take MAX_CONCURRENT_ENVS sessions; "
                      "env.options.servers starts several",
                      request.id, least, training, evaluations, got, error.what()),
          error.details());
    }
  }
  const int each = evaluations > 0 ? std::min(wanted, (got - training) / evaluations) : wanted;
  if (each < wanted)
    log::warn("an OpenEnv server has few sessions, so evaluations play fewer episodes at a time",
              {{"environment", request.id},
               {"sessions", static_cast<std::size_t>(got)},
               {"environments_of_an_evaluation", static_cast<std::size_t>(each)}});
  const std::lock_guard lock(room_mutex);
  known_rooms()[key_of(request)] = each;
  return each;
}

int openenv_room(const environment_request& request, int wanted) {
  const std::lock_guard lock(room_mutex);
  const auto found = known_rooms().find(key_of(request));
  return found == known_rooms().end() ? wanted : std::min(wanted, found->second);
}

}  // namespace troupe
