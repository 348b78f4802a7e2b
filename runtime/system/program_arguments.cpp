#include "runtime/system/program_arguments.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/metrics/metrics_options.hpp"

namespace troupe::detail {

std::variant<program_arguments, int> read_arguments(int argc, char** argv) {
  program_arguments a;
  CLI::App app("A Troupe program.");
  app.fallthrough();
  app.require_subcommand(0, 1);
  app.add_option("--threads", a.system.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  add_metrics_options(app, a.metrics);
  app.add_option("--log-level", a.log_level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  auto* deterministic = app.add_flag("--deterministic", a.system.deterministic,
                                     "one thread, virtual time, an order drawn from --seed");
  app.add_option("--seed", a.system.seed, "of everything that is drawn");
  std::string faults;
  auto* faults_option =
      app.add_option("--faults", faults,
                     "what goes wrong on purpose: random, or such as crash=0.001,delay=0.01:50ms")
          ->needs(deterministic);
  app.add_option("--trace", a.trace,
                 "write what the actors do to this file, for chrome://tracing or ui.perfetto.dev");
  auto* certs =
      app.add_option("--certs", a.system.certs,
                     "directory with ca.pem, cert.pem and key.pem of this end of a cluster");
  app.add_option("--join-secret", a.system.join_secret,
                 "without --certs: the file whose secret both ends know "
                 "(~/.local/state/troupe/join.secret)")
      ->excludes(certs);

  auto* controller = app.add_subcommand("controller", "run the program, with nodes that join it");
  controller->add_option("--listen", a.system.listen, "where nodes join, HOST:PORT")
      ->required()
      ->excludes(deterministic);
  controller->add_option("--wait-for-nodes", a.nodes,
                         "nodes to wait for before the program starts");

  auto* node = app.add_subcommand("node", "run the roles that a controller places here");
  link_client_options join;
  node->add_option("--join", join.address, "the controller, HOST:PORT")->required();
  node->add_option("--name", join.name, "of this node: what placements name it by")->required();
  node->add_option("--slots", join.slots, "replicas it takes; 0: one a core")
      ->check(CLI::Range(0, 65536));
  node->add_flag("--isolate", a.system.isolate, "run each replica in a process of its own");

  try {
    app.parse(argc, argv);
    if (faults_option->count() > 0) a.system.faults = fault_plan::parse(faults);
  } catch (const fault_plan_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (node->parsed()) {
    join.certs = a.system.certs;
    join.join_secret = a.system.join_secret;
    a.join = std::move(join);
  }
  return a;
}

}  // namespace troupe::detail
