// Replicas run in processes of their own, and on other machines. The parts:
//
//   solver    a role, which is a plain class like any other
//   solvers   a service of two replicas, each in a child process of this program or on a node
//   demo      the program's main coroutine, which calls them and kills one to show the cost
//
// Run it: ./processes
// Run it on nodes (here two more processes of this machine):
//   ./processes controller --listen 127.0.0.1:7700 --wait-for-nodes 2 &
//   ./processes node --join 127.0.0.1:7700 --name one &
//   ./processes node --join 127.0.0.1:7700 --name two --isolate &
//   wait %1; kill %2 %3   # nodes would wait for the next controller

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "runtime/system/run.hpp"

namespace {

using namespace std::chrono_literals;
using troupe::placement;
using troupe::task;

// Arguments and results that cross processes are numbers, texts, containers and structs of them.
// They need no declaration. A type that can't cross is refused by its name when the role is placed.
struct equation {
  double a = 0, b = 0;  // a x + b = 0
};

class solver {
 public:
  explicit solver(double precision) : precision_(precision) {}

  double solve(const equation& e) const {
    const double x = -e.b / e.a;
    return static_cast<double>(static_cast<std::int64_t>(x / precision_)) * precision_;
  }
  std::int64_t process() const { return getpid(); }

 private:
  double precision_;
};

task<> demo(troupe::system& sys) {
  const bool has_nodes = sys.port() != 0;
  // readme: processes
  auto solvers = co_await sys.serve<solver>(
      {.name = "solvers",
       .replicas = 2,
       .placement = has_nodes ? placement::node("*") : placement::process,
       .idempotent = {troupe::endpoint<&solver::solve>}},  // May be asked again elsewhere.
      0.001);
  const double x = co_await solvers.route<&solver::solve>(equation{2, -3});
  // readme: end
  std::printf("x = %.3f\n", x);

  const auto processes = co_await solvers.fanout<&solver::process>();
  for (const auto pid : processes) {
    std::printf("a replica in %s\n", pid == getpid() ? "this process" : "another process");
  }
  if (has_nodes || sys.options().deterministic) co_return;

  kill(static_cast<pid_t>(processes[0]), SIGKILL);
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    const auto answer = co_await solvers.try_route<&solver::solve>(equation{1.0 + i, -1});
    if (answer.ok()) ++answers;
  }
  std::printf("one was killed; %d of 100 calls were answered\n", answers);
}

}  // namespace

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
