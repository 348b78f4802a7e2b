#include <optional>

#include "algorithms/program/commands.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/run.hpp"

namespace troupe::command {

namespace {

task<> until_told_to_end() {
  for (;;) co_await sleep_for(std::chrono::hours(24));
}

}  // namespace

int node(const node_arguments& arguments) {
  system sys({.threads = arguments.threads, .isolate = arguments.isolate});
  const auto server = serve_metrics(sys, arguments.metrics);
  const signal_watch signals([&] { sys.cancel(); }, sys.options().stop_limit);
  const detail::node joined(sys, {.address = arguments.join,
                                  .certs = arguments.certs,
                                  .join_secret = arguments.join_secret,
                                  .name = arguments.name,
                                  .slots = arguments.slots});
  try {
    sys.run(until_told_to_end());
  } catch (const call_error& e) {
    if (e.kind() != error_kind::cancelled) throw;
  }
  return 0;
}

}  // namespace troupe::command
