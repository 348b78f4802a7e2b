// The code of docs/tour.md that is in no example: its second step, as a program of its own.

#include <chrono>
#include <cstdio>

#include "runtime/system/run.hpp"

struct transition {
  int place;  // the place that the agent is at now
  double reward = 0;
  bool terminated = false;
};

struct corridor {
  transition reset() { return {place = 4}; }
  troupe::task<transition> step(bool right) {
    co_await troupe::sleep_for(std::chrono::milliseconds(1));  // as a slow simulator would
    if (right || place > 0) place += right ? 1 : -1;
    co_return transition{place, place == 10 ? 1.0 : -0.02, place == 10};
  }
  int place = 0;
};

troupe::task<> show_processes(troupe::system& sys) {
  // readme: processes
  auto corridors = co_await sys.serve<corridor>(
      {.name = "corridors", .replicas = 2, .placement = troupe::placement::process});
  // readme: end
  const auto starts = co_await corridors.fanout<&corridor::reset>();
  std::printf("%zu corridors in processes of their own\n", starts.size());
  sys.stop(corridors);
}

troupe::task<> demo(troupe::system& sys) {
  // readme: service
  auto corridors = co_await sys.serve<corridor>({.name = "corridors", .replicas = 2});

  const auto starts = co_await corridors.fanout<&corridor::reset>();  // Every replica answers.
  std::printf("%zu agents start at place %d\n", starts.size(), starts[0].place);

  auto mine = co_await corridors.session();  // All its calls go to one replica.
  const auto now = co_await mine.route<&corridor::step>(true);
  std::printf("a step to the right led to place %d\n", now.place);
  // readme: end
  sys.stop(corridors);
  co_await show_processes(sys);
}

// readme: main
int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
// readme: end
