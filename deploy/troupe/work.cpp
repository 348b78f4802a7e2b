// The program behind the `troupe` command. It has the commands of every program, GRPO and
// supervised fine-tuning for language models, and `troupe certs`.

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/llm/files/known_models.hpp"
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/language_models/sft/sft_algorithm.hpp"
#include "algorithms/program/main.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/process/keeper.hpp"

namespace {

/// Replaces the name of an installed language model by its file, which the run's configuration
/// keeps. Throws std::invalid_argument for an unknown name.
void find_language_model(nlohmann::json& document) {
  const nlohmann::json::json_pointer at("/model/path");
  if (!document.contains(at) || !document[at].is_string()) return;
  const auto named = document[at].get<std::string>();
  if (!named.empty()) document[at] = troupe::llm::resolve_model(named).string();
}

/// The algorithm, in whose configuration the name of an installed language model is a path.
troupe::named_algorithm with_installed_models(troupe::named_algorithm of) {
  of.complete = [before = std::move(of.complete)](nlohmann::json& document) {
    if (before) before(document);
    find_language_model(document);
  };
  return of;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace troupe;
  const auto words = command::words_of_troupe();
  const int code = troupe::main(argc, argv,
                                {.name = words.name,
                                 .help = words.help,
                                 .algorithms = {with_installed_models(grpo_algorithm()),
                                                with_installed_models(sft_algorithm())},
                                 .commands = command::further_commands({.certs = command::certs})});
  troupe::detail::end_kept_processes();
  // All work has ended by now. This skips libtorch's destructors, which take 0.1 s to unregister
  // its operators.
  std::fflush(nullptr);
  std::_Exit(code);
}
