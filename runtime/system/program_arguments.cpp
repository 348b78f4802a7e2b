#include "runtime/system/program_arguments.hpp"

#include <CLI/CLI.hpp>

#include "runtime/base/print_error.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::detail {

std::variant<program_arguments, int> read_arguments(int argc, char** argv) {
  program_arguments a;
  CLI::App app("A Troupe program.");
  app.fallthrough();
  app.require_subcommand(0, 1);
  app.add_option("--threads", a.system.threads,
                 "number of threads in the pool; 0 means one per core")
      ->check(CLI::Range(0, 1024));
  add_metrics_options(app, a.metrics);
  app.add_option("--log-level", a.log_level,
                 "least severe messages to log: debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  auto* deterministic =
      app.add_flag("--deterministic", a.system.deterministic,
                   "run on one thread, in virtual time and in an order drawn from --seed");
  app.add_option("--seed", a.system.seed, "seed of all random numbers");
  std::string faults;
  auto* faults_option =
      app.add_option("--faults", faults,
                     "faults to inject: random, or a list such as crash=0.001,delay=0.01:50ms")
          ->needs(deterministic);
  app.add_option("--trace", a.trace,
                 "file to write a trace of the actors to, for chrome://tracing or ui.perfetto.dev");
  auto* certs =
      app.add_option("--certs", a.system.certs,
                     "directory with ca.pem, cert.pem and key.pem of this end of the cluster");
  app.add_option("--join-secret", a.system.join_secret,
                 "file with the secret that both ends must know if there is no --certs; default "
                 "~/.local/state/troupe/join.secret")
      ->excludes(certs);

  auto* controller = app.add_subcommand("controller", "run the program with nodes that join it");
  controller->add_option("--listen", a.system.listen, "address where nodes join, HOST:PORT")
      ->required()
      ->excludes(deterministic);
  controller->add_option("--wait-for-nodes", a.nodes,
                         "number of nodes to wait for before the program starts; default 0");

  auto* node = app.add_subcommand("node", "run the replicas that a controller places on this node");
  link_client_options join;
  node->add_option("--join", join.address, "address of the controller, HOST:PORT")->required();
  node->add_option("--name", join.name, "name of this node, which placements refer to")->required();
  node->add_option("--slots", join.slots,
                   "number of replicas that this node takes; 0 means one per core")
      ->check(CLI::Range(0, 65536));
  node->add_flag("--isolate", a.system.isolate, "run each replica in its own process");

  try {
    app.parse(argc, argv);
    if (faults_option->count() > 0) a.system.faults = fault_plan::parse(faults);
  } catch (const fault_plan_error& e) {
    print_error(e.what());
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
