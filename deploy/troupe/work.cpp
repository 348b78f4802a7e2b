// The program behind the `troupe` command: what every program has, with language models, and the
// certificates of clusters.

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/program/main.hpp"
#include "deploy/troupe/commands.hpp"
#include "deploy/troupe/model_cache.hpp"

namespace {

/// A language model that is installed is known by its name; a run's configuration has its file.
/// Throws std::invalid_argument.
void find_language_model(nlohmann::json& document) {
  const nlohmann::json::json_pointer at("/model/path");
  if (!document.contains(at) || !document[at].is_string()) return;
  const auto named = document[at].get<std::string>();
  if (!named.empty()) document[at] = troupe::command::resolve_model(named).string();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace troupe;
  auto grpo = grpo_algorithm();
  grpo.complete = find_language_model;
  const auto words = command::words_of_troupe();
  const int code = troupe::main(argc, argv,
                                {.name = words.name,
                                 .help = words.help,
                                 .algorithms = {std::move(grpo)},
                                 .commands = command::further_commands({.certs = command::certs})});
  // All that was begun has ended by now. What is left is libtorch taking its operators out of its
  // tables, one by one, for 0.1 s, in memory that is gone in a moment.
  std::fflush(nullptr);
  std::_Exit(code);
}
