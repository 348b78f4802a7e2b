// The commands of `troupe` on the environment of an OpenEnv server, which speaks the messages of
// `troupe serve-env`: any environment of Gymnasium, behind examples/gymnasium_server.py.
//
// The roles are the algorithm's. The environment is `Served`, whose spaces the server tells.
//
//   python3 examples/gymnasium_server.py CartPole-v1        # in another terminal
//   ./train_on_openenv train -n 50000 env.placement=thread
//   ./train_on_openenv eval runs/ppo/Served_1
//
// OPENENV_URL names another server than http://127.0.0.1:8000. docs/guides/gymnasium.md has more.

#include <cstdlib>

#include "actors/openenv/client/numeric_worlds.hpp"
#include "algorithms/program/main.hpp"

namespace openenv = troupe::openenv;

std::unique_ptr<troupe::vector_environment> make_served(std::size_t size) {
  const char* url = std::getenv("OPENENV_URL");
  const openenv::client_options servers{.urls = {url ? url : "http://127.0.0.1:8000"}};
  // The server is asked for its spaces once, so that a run goes on where the server restarts.
  static const troupe::env_spec spec = openenv::served_spec(servers);
  return openenv::make_numeric_worlds(openenv::served_view(spec), servers, size);
}

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains agents on the environment of an OpenEnv server.",
                       .environments = {{"Served", nullptr, make_served}}});
}
