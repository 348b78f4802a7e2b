#pragma once
// One program with its replicas in every kind of other process.

#include "runtime/coroutine/combine.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/system.hpp"
#include "tests/test.hpp"

namespace troupe::testing {

using namespace std::chrono_literals;

inline detail::link_client_options at(const system& controller) {
  return {.address = "127.0.0.1:" + std::to_string(controller.port()), .name = "gpu-1", .slots = 9};
}

/// In child processes, on a node of this process, in child processes of a node, and in virtual
/// time. `cycle_check` is that of every system.
inline void run_everywhere(task<> (*program)(system&),
                           duration cycle_check = system_options().cycle_check) {
  SECTION("in child processes") {
    troupe::system sys({.cycle_check = cycle_check});
    sys.run(with_timeout(program(sys), 30s));
  }
  SECTION("on a node") {
    troupe::system sys({.cycle_check = cycle_check, .listen = "127.0.0.1:0"});
    troupe::system there({.cycle_check = cycle_check});
    const detail::node joining(there, at(sys));
    sys.run(with_timeout(program(sys), 30s));
  }
  SECTION("in child processes of a node") {
    troupe::system sys({.cycle_check = cycle_check, .listen = "127.0.0.1:0"});
    troupe::system there({.cycle_check = cycle_check, .isolate = true});
    const detail::node joining(there, at(sys));
    sys.run(with_timeout(program(sys), 30s));
  }
  SECTION("over a simulated link") {
    troupe::system sys({.deterministic = true, .seed = 7, .cycle_check = cycle_check});
    sys.run(program(sys));
  }
}

/// Where run_everywhere means a service to be.
inline placement elsewhere(const system& sys) {
  return sys.port() != 0 ? placement::node("gpu-*") : placement::process;
}

}  // namespace troupe::testing
