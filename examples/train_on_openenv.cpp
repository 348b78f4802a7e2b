// The commands of `troupe` on the environment of an OpenEnv server, such as any environment of
// Gymnasium behind examples/gymnasium_server.py.
//
// The roles are the algorithm's. The environment is `Served`, whose numbers the server tells.
//
//   python3 examples/gymnasium_server.py CartPole-v1        # in another terminal
//   ./train_on_openenv train -n 50000 env.placement=thread
//   ./train_on_openenv eval runs/ppo/Served_1
//
// OPENENV_URL names another server than http://127.0.0.1:8000. docs/guides/gymnasium.md has more.

#include <cstdlib>

#include "actors/openenv/client/view_discovery.hpp"
#include "algorithms/program/main.hpp"

namespace openenv = troupe::openenv;

std::unique_ptr<troupe::vector_environment> make_served(std::size_t size) {
  const char* url = std::getenv("OPENENV_URL");
  const openenv::client_options servers{.urls = {url ? url : "http://127.0.0.1:8000"}};
  // The server is asked for its numbers once, so that a run goes on where the server restarts.
  static const openenv::numeric_view view = openenv::view_at(servers);
  return openenv::make_numeric_worlds(view, servers, size);
}

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains agents on the environment of an OpenEnv server.",
                       .environments = {{"Served", nullptr, make_served}}});
}
