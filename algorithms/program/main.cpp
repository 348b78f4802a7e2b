#include "algorithms/program/main.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "actors/gradients/own_network.hpp"
#include "actors/worlds/plugin_loader.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/system/child_process.hpp"

namespace troupe {

namespace {

using namespace command;

void add(const named_environment& one) {
  if (!one.make_many) return register_environment(one.id, one.make);
  if (!one.make) return register_vector_environment(one.id, one.make_many);
  detail::register_both(one.id, one.make_many, one.make);
}

/// Built-in algorithms, and then the program's own. Throws std::invalid_argument for a name that is
/// empty or taken.
std::vector<named_algorithm> all_algorithms(const std::vector<named_algorithm>& own,
                                            const std::vector<own_options>& options) {
  auto all = built_in_algorithms();
  for (const auto& one : own) {
    if (one.name.empty()) throw std::invalid_argument("algorithm: expected a name, got \"\"");
    if (names_plugin(one.name)) {
      throw std::invalid_argument(
          "algorithm: expected a name that is no path of a plug-in, got \"" + one.name + '"');
    }
    if (std::ranges::count(all, one.name, &named_algorithm::name) > 0) {
      throw std::invalid_argument("algorithm: expected a new name, got \"" + one.name +
                                  "\", which is there already");
    }
    all.push_back(one);
  }
  for (auto& one : all) one = with_own_options(std::move(one), options);
  return all;
}

/// Registers the environments and the networks. Throws std::invalid_argument for a name that is
/// empty or taken.
context context_of(const program& what) {
  for (const auto& one : what.environments) add(one);
  for (const auto& one : what.encoders) register_encoder(one.name, one.function);
  return {.program = what.name,
          .algorithms = all_algorithms(what.algorithms, what.options),
          .environment = what.environments.size() == 1 ? what.environments.front().id : "",
          .callbacks = what.callbacks,
          .options = what.options};
}

program_words words_of(const program& what, const context& of) {
  program_words words{.name = what.name,
                      .help = what.help,
                      .has_tasks = of.has_tasks(),
                      .names = [&of](const std::string& kind, const std::string& algorithm) {
                        return known_names(of, kind, algorithm);
                      }};
  if (!what.environments.empty()) words.environment = what.environments.front().id;
  if (words.help.empty()) words.help = "Trains agents, and evaluates them.";
  return words;
}

std::vector<program_command> commands_of(const program& what, const context& of) {
  auto all = standard_commands(
      words_of(what, of),
      {.train = [&of](const train_arguments& a) { return train(a, of); },
       .eval = [&of](const eval_arguments& a) { return eval(a, of); },
       .check_env = [&of](const check_env_arguments& a) { return check_env(a, of.program); },
       .check_rule = [&of](const check_rule_arguments& a) { return check_rule(a, of); },
       .config = [&of](const config_arguments& a) { return config_schema(a, of); },
       .list = [&of](const list_arguments& a) { return list(a, of); },
       .status = [&of](const status_arguments& a) { return status(a, of.program); },
       .node = node});
  all.insert(all.end(), what.commands.begin(), what.commands.end());
  return all;
}

int run(int argc, char** argv, const program& what) {
  const auto of = context_of(what);
  detail::serve_parent_if_child();
  const auto read = read_command_line(argc, argv, words_of(what, of), commands_of(what, of));
  if (const int* wrong = std::get_if<int>(&read)) return *wrong;
  const auto& line = std::get<command_line>(read);
  log::set_level(line.log_level);
  try {
    return line.run();
  } catch (const port_busy& e) {
    print_error(line.name, e.what());
    return 2;
  } catch (const metrics_place_error& e) {
    print_error(line.name, e.what());
    return 2;
  } catch (const std::exception& e) {
    print_error(line.name, e.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv, program what) {
  if (what.name.empty()) what.name = argc > 0 ? argv[0] : "program";
  try {
    return run(argc, argv, what);
  } catch (const std::invalid_argument& e) {
    print_error(what.name, e.what());
    return 2;
  }
}

}  // namespace troupe
