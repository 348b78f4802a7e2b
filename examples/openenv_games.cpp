// A table and PPO learn Blackjack on an OpenEnv server, like any other environment. With `--game`
// they learn tic-tac-toe or connect four.
//
// The parts:
//   servers     OpenEnv servers: yours (--url), ones that this program starts (--server "COMMAND"),
//               or Troupe's own Blackjack in this program
//   worlds      64 sessions on them that step like any environment (openenv_games/learn.cpp)
//   learners    algorithms/off_policy/q_learning and algorithms/on_policy/ppo, with their own roles
//   baselines   players that do not learn (openenv_games/game.cpp)
//
//   ./openenv_games [--games N] [--steps N] [--json]
//   ./openenv_games --game tic_tac_toe --server
//       "python3 tests/worlds/openspiel_server.py --game tic_tac_toe --port {port}"
//
// It ends with a table of the shares of N games that each player has won, drawn and lost.

#include <charconv>
#include <cstdio>
#include <iterator>
#include <map>
#include <sstream>

#include "actors/openenv/client/provider.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "examples/openenv_games/learn.hpp"
#include "examples/openenv_games/play.hpp"
#include "runtime/system/run.hpp"

namespace openenv = troupe::openenv;
using troupe::task;

/// This program's own options, without those of troupe::run.
struct {
  std::string game = "blackjack", url, server, games = "5000", steps;
  bool json = false;
} options;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream from(line);
  return {std::istream_iterator<std::string>(from), {}};
}

/// Reads the value of an option. Throws std::invalid_argument if it is no number above 0.
std::int64_t number_of(const char* option, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw std::invalid_argument(std::string(option) + ": expected a number > 0, got \"" + text +
                                '"');
  return number;
}

void print_row(const std::string& name, const games::tally& seen, nlohmann::ordered_json& results) {
  const auto percent = [&](std::int64_t of) {
    return 100.0 * static_cast<double>(of) / static_cast<double>(seen.played);
  };
  std::printf("  %-12s %5.1f %% won  %5.1f %% drawn  %5.1f %% lost  mean return %6.3f\n",
              name.c_str(), percent(seen.won), percent(seen.drawn), percent(seen.lost),
              seen.sum / static_cast<double>(seen.played));
  std::fflush(stdout);
  results[name + "_win_rate"] = seen.win_rate();
}

task<> play_and_learn(troupe::system& sys, games::game what, std::vector<std::string> urls) {
  const openenv::client_options servers{.urls = urls};
  const openenv::client client(servers, &sys.metrics());
  const auto count = number_of("--games", options.games);
  if (!options.steps.empty()) what.steps = number_of("--steps", options.steps);
  const auto seed = sys.options().seed;
  nlohmann::ordered_json results{
      {"game", what.name}, {"games", count}, {"seed", seed}, {"steps", what.steps}};
  std::printf("%s on %s, %lld games each\n", what.name.c_str(), urls.front().c_str(),
              static_cast<long long>(count));
  auto players = what.baselines;
  const auto by_table = co_await games::learn_by_table(sys, what, servers, seed);
  players.push_back({"q_learning", by_table});
  const auto by_ppo = co_await games::learn_by_ppo(sys, what, servers, seed);
  players.push_back({"ppo", by_ppo});
  for (const auto& [name, choose] : players) {
    const auto seen =
        co_await games::play(client, what, choose, count, troupe::derived_seed(seed, "games"));
    print_row(name, seen, results);
  }
  if (options.json) std::puts(results.dump().c_str());
}

task<> main_task(troupe::system& sys) {
  if (!options.url.empty()) {
    co_await play_and_learn(sys, games::openspiel_game(options.game), {options.url});
  } else if (!options.server.empty()) {
    const openenv::process_options two{.command = words_of(options.server), .servers = 2};
    const auto servers = co_await openenv::from_process(two);
    co_await play_and_learn(sys, games::openspiel_game(options.game), servers.urls());
  } else {
    if (options.game != "blackjack")
      throw std::invalid_argument("--game " + options.game + " needs --url or --server");
    const troupe::openenv_server::server served(
        [] { return troupe::make_vector_environment("Blackjack-v1", 1); }, {.port = 0},
        sys.metrics());
    const auto url = "http://127.0.0.1:" + std::to_string(served.port());
    co_await play_and_learn(sys, games::served_blackjack(), {url});
  }
}

/// Removes this program's own options from the arguments. Returns false for an option without its
/// value.
bool take_options(int& argc, char** argv) {
  const std::map<std::string, std::string*> known{{"--game", &options.game},
                                                  {"--url", &options.url},
                                                  {"--server", &options.server},
                                                  {"--games", &options.games},
                                                  {"--steps", &options.steps}};
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const auto found = known.find(argv[i]);
    if (std::string(argv[i]) == "--json") {
      options.json = true;
    } else if (found == known.end()) {
      argv[kept++] = argv[i];
    } else if (i + 1 == argc) {
      std::fprintf(stderr, "%s: expected a value, got none\n", argv[i]);
      return false;
    } else {
      *found->second = argv[++i];
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  return true;
}

int main(int argc, char** argv) {
  if (!take_options(argc, argv)) return 2;
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
