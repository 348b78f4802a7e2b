// The code of docs/guides/openenv.md that is in no example.

#include <chrono>
#include <string>
#include <vector>

#include "runtime/system/run.hpp"

// readme: options
#include "actors/openenv/client/client.hpp"

using namespace std::chrono_literals;

const troupe::openenv::client_options servers{
    .urls = {"https://games.example:8000", "https://games.example:8001"},
    .reply_timeout = 30s,
    .authorities = "certs/ca.pem",
    .headers = {{"Authorization", "Bearer 0123456789"}}};
// readme: end

// readme: client
#include "actors/openenv/client/client.hpp"

/// An episode of blackjack on a server of OpenEnv's openspiel environment.
troupe::task<double> play(troupe::openenv::client games) {
  auto game = games.open();
  auto now = co_await game.reset({{"seed", 7}});
  while (!now.ended) now = co_await game.step({{"action_id", 1}});
  co_return now.reward.value_or(0);
}
// readme: end

// readme: numeric
#include "actors/openenv/client/numeric_worlds.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"

troupe::run_result learn_blackjack(const std::string& url) {
  namespace openenv = troupe::openenv;
  openenv::register_world("BlackJack-OpenEnv", openenv::openspiel_view("blackjack"),
                          {.urls = {url}});
  troupe::ppo_config config;
  config.env = {.id = "BlackJack-OpenEnv", .n_envs = 8, .placement = "thread"};
  return troupe::train(config, {.root = "runs"}, {});
}
// readme: end

// readme: provider
#include "actors/openenv/client/provider.hpp"

troupe::task<double> play_on_own_server() {
  const troupe::openenv::process_options how{
      .command = {"python3", "-m", "uvicorn", "server.app:app", "--port", "{port}"}};
  const auto running = co_await troupe::openenv::from_process(how);
  co_return co_await play(troupe::openenv::client({.urls = running.urls()}));
}
// readme: end

// readme: server
#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"

troupe::task<> serve_for_an_hour(troupe::system& sys) {
  const auto make = [] { return troupe::make_vector_environment("CartPole-v1", 1); };
  troupe::openenv_server::server served(make, {.port = 8000, .sessions_max = 64}, sys.metrics());
  co_await troupe::sleep_for(1h);
  served.drain(30s);
}
// readme: end
