// CartPole on an OpenEnv server, in eight sessions at once, from coroutines. The parts:
//
//   served    an OpenEnv server: yours if OPENENV_URL names one, or else one in this program, like
//             `troupe serve-env CartPole-v1`
//   carts     a service of eight replicas, each with a session of its own on that server
//   play      an episode, which takes one replica for itself and steps it until the pole falls
//   demo      the program's main coroutine, which plays sixteen episodes on the eight replicas
//
// Run it: ./openenv

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/openenv/client/world.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/system/run.hpp"

namespace {

namespace openenv = troupe::openenv;
using nlohmann::json;
using troupe::task;

// readme: openenv
/// The actions that the server takes and the observations that it shows. OpenEnv's own environments
/// have such structs already (openenv::echo, openenv::openspiel); openenv::any_world takes JSON.
struct cartpole {
  struct action {
    std::int64_t action = 0;  // 0: left, 1: right
  };
  struct observation {
    std::vector<double> obs;  // position, velocity, angle, angular velocity
  };
};
void describe(openenv::fields<cartpole::action>& f) {
  f.field("action", &cartpole::action::action);
}
void describe(openenv::fields<cartpole::observation>& f) {
  f.field("obs", &cartpole::observation::obs);
}
using cart = openenv::world<cartpole>;

task<double> play(troupe::service<cart> carts, int seed) {
  const troupe::session_options alone{.exclusive = true};
  auto mine = co_await carts.session(alone);
  const json seeded{{"seed", seed}};
  auto now = co_await mine.route<&cart::reset>(seeded);
  double episode_return = 0;
  while (!now.ended) {
    const auto& obs = now.observation.obs;
    const cartpole::action to_the_fall{.action = obs[2] + obs[3] > 0 ? 1 : 0};
    now = co_await mine.route<&cart::step>(to_the_fall);
    episode_return += now.reward.value_or(0);
  }
  co_return episode_return;
}
// readme: end

task<> play_all(troupe::system& sys, std::string url) {
  const openenv::client_options servers{.urls = {url}};
  auto carts = co_await sys.serve<cart>({.name = "carts", .replicas = 8}, servers, &sys.metrics());
  std::vector<task<double>> episodes;
  for (int seed = 0; seed < 16; ++seed) episodes.push_back(play(carts, seed));
  const auto returns = co_await all(std::move(episodes));
  double sum = 0;
  for (const double one : returns) sum += one;
  std::printf("16 episodes on %s, mean return %.1f\n", url.c_str(), sum / 16);
}

task<> demo(troupe::system& sys) {
  if (const char* url = std::getenv("OPENENV_URL")) {
    co_await play_all(sys, url);
    co_return;
  }
  const troupe::openenv_server::server served(
      [] { return troupe::make_vector_environment("CartPole-v1", 1); }, {.port = 0}, sys.metrics());
  co_await play_all(sys, "http://127.0.0.1:" + std::to_string(served.port()));
}

}  // namespace

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
