// A language model learns Blackjack on an OpenEnv server from rewards alone (GRPO). It reads its
// cards, writes HIT or STAND, reads the next card, and so on. The moves of games that went better
// than others of the same deal become likelier.
//
// The parts:
//   server      yours (--url), or Troupe's own Blackjack in this program
//   baselines   players that do not learn (openenv_games/game.cpp)
//   roles       deals, worlds, a generator, a replay of whole groups and the trainer, by train_in
//
//   ./grpo_blackjack --hands 10000 total_steps=60
//   ./grpo_blackjack --hands 10000 --model SmolLM2.gguf total_steps=20
//
// Without --model the player is the letters model, which reads "14d6>" and writes + or =. The
// program ends with a table of the shares of hands that each player has won. Further options are
// those of `troupe config grpo`.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "actors/openenv/server/server.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "examples/openenv_games/play.hpp"
#include "runtime/system/system.hpp"

namespace loops = troupe::loops;
namespace openenv = troupe::openenv;

struct settings {
  std::string url;
  bool openspiel = false;  // true if the server at `url` has openspiel's messages
  std::int64_t hands = 500;
  troupe::grpo_config config;
};

/// The default configuration, which takes seconds for the letters model and minutes for SmolLM2.
/// The penalty for the distance from the first weights keeps every move possible.
troupe::grpo_config usual(bool letters) {
  troupe::grpo_config config;
  config.task.name = "blackjack";
  config.total_steps = 10;
  config.rollout.prompts = letters ? 16 : 8;
  config.rollout.max_completion_tokens = 4;
  config.warm_start.batches = letters ? 20 : 12;
  config.warm_start.batch_size = letters ? 64 : 8;
  config.warm_start.lr = letters ? 3e-3 : 2e-5;
  config.trainer.kl_coef = 0.3;
  return config;
}

void print_row(const char* name, const games::tally& seen) {
  std::printf("  %-8s %5.1f %% won  %5.1f %% drawn  mean return %6.3f\n", name,
              100 * seen.win_rate(), 100.0 * double(seen.drawn) / double(seen.played),
              seen.sum / double(seen.played));
  std::fflush(stdout);
}

/// Plays the model's likeliest moves on deals that it hasn't learned from, and prints the results.
troupe::task<> tell(loops::progress now, troupe::evaluation seen) {
  games::tally hands;
  for (const double each : seen.returns) hands.add(each);
  std::printf("after %lld updates\n", static_cast<long long>(now.updates));
  print_row("grpo", hands);
  co_return;
}

troupe::task<> learn_and_compare(troupe::system& sys, settings s, games::game what) {
  std::printf("%s, %lld hands each\n", s.url.c_str(), static_cast<long long>(s.hands));
  const openenv::client client({.urls = {s.url}}, &sys.metrics());
  for (const auto& [name, choose] : what.baselines) {
    const auto seen = co_await games::play(client, what, choose, s.hands, s.config.seed);
    print_row(name.c_str(), seen);
  }
  s.config.world.urls = {s.url};
  s.config.evaluation = {.every_updates = s.config.total_steps,
                         .problems = static_cast<int>(s.hands),
                         .final_problems = 100,
                         .stop_at = {}};
  const auto learning = troupe::algorithm_with(s.config);
  const auto run =
      co_await troupe::train_in(sys, learning, {.root = "runs"}, {.on_evaluation = tell});
  std::printf("the moves: troupe samples %s\n", run.run_directory.c_str());
}

void play(settings s) {
  troupe::system sys;
  if (!s.url.empty()) {
    const auto what = s.openspiel ? games::openspiel_game("blackjack") : games::served_blackjack();
    sys.run(learn_and_compare(sys, s, what));
    return;
  }
  const troupe::openenv_server::server served(
      [] { return troupe::make_vector_environment("Blackjack-v1", 1); }, {.port = 0},
      sys.metrics());
  s.url = "http://127.0.0.1:" + std::to_string(served.port());
  sys.run(learn_and_compare(sys, s, games::served_blackjack()));
}

int main(int argc, char** argv) {
  CLI::App app("A language model learns Blackjack on an OpenEnv server.");
  settings s;
  std::string model;
  std::vector<std::string> overrides;
  auto* url =
      app.add_option("--url", s.url, "An OpenEnv server. The default is one in this program.");
  app.add_flag("--openspiel", s.openspiel, "The server has the messages of OpenEnv's openspiel.")
      ->needs(url);
  app.add_option("--model", model,
                 "A chat model's folder or GGUF file. The default is the letters model.");
  app.add_option("--hands", s.hands, "The number of hands that each player plays at the end.")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("options", overrides,
                 "Options of the algorithm, such as total_steps=100 trainer.lr=1e-5.");
  try {
    app.parse(argc, argv);
    auto config = usual(model.empty());
    config.model.path = model;
    s.config =
        troupe::parse_config<troupe::grpo_config>(troupe::load_config("", overrides), config);
    troupe::use_one_torch_thread();
    play(std::move(s));
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "grpo_blackjack: %s\n", e.what());
    return 1;
  }
}
