#pragma once
// The options of the cross-entropy method.

#include <string>

#include "algorithms/run/config.hpp"

struct cem_env {
  std::string id = "CartPole-v1";
  std::string placement = "shared";
  int players = 2;
};

struct cem_config {
  std::string algo = "cem";
  cem_env env;
  std::int64_t total_steps = 30;  // a step of this algorithm is an update
  int population = 32;
  std::uint64_t seed = 1;
  troupe::training_mode mode = troupe::training_mode::sync;
  troupe::checkpoint_section checkpoint;
  bool deterministic = false;
};

void describe(troupe::options_schema<cem_env>& s) {
  s.field("id", &cem_env::id).help("The environment that the policies play.");
  troupe::describe_placement(s, "placement", &cem_env::placement).help("Where the players run.");
  s.field("players", &cem_env::players).at_least(1).at_most(1000).help("The number of players.");
}

void describe(troupe::options_schema<cem_config>& s) {
  s.field("algo", &cem_config::algo).one_of({"cem"}).help("The name of the algorithm.");
  s.field("env", &cem_config::env).help("The environment.");
  s.field("total_steps", &cem_config::total_steps)
      .at_least(1)
      .unit("updates")
      .help("Training ends after so many.");
  s.field("population", &cem_config::population).at_least(4).help("The trials of an update.");
  s.field("seed", &cem_config::seed).help("The seed of the policies and the episodes.");
  s.field("mode", &cem_config::mode).help("sync, or async: trials go on during an update.");
  s.field("checkpoint", &cem_config::checkpoint).help("The checkpoints of the run.");
  s.field("deterministic", &cem_config::deterministic).help("If true, runs can be repeated.");
}
