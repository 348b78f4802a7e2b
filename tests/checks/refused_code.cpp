// What does not compile, and the one error that says why. refused_code_test.sh has it compiled with
// clang's -verify, which wants these errors and no other.
#include <string>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

struct equation {
  double a, b;
};

struct solver {
  double solve(equation what) { return -what.b / what.a; }
  double add(equation one, double other) { return one.a + other; }
  int count() { return 1; }
};

task<int> twice(int n) { co_return 2 * n; }

task<> call_well(service<solver> solvers) {
  co_await solvers.route<&solver::solve>({2, -3});
  co_await solvers.try_route<&solver::solve>({2, -3});
  co_await solvers.fanout<&solver::solve>({2, -3});
  co_await solvers.fanout_settled<&solver::solve>({.a = 2, .b = -3});
  co_await solvers.route<&solver::add>({2, -3}, 1);
  co_await solvers.route<&solver::solve>(equation{2, -3});
  co_await solvers.route<&solver::count>();
  co_await solvers.fanout<&solver::count>();
  auto mine = co_await solvers.session();
  co_await mine.route<&solver::solve>({2, -3});
  co_await mine.try_route<&solver::solve>({2, -3});
  co_await mine.route<&solver::count>();
}

#ifdef REFUSED
task<> call_wrongly(service<solver> solvers, session<solver> mine, std::string text) {
  co_await solvers.route<&solver::solve>(text);
  co_await solvers.fanout<&solver::count>(1);
  co_await mine.try_route<&solver::add>(text, text);
  co_await solvers.try_route<&solver::solve>();
  co_await mine.route<&solver::add>();
  // expected-error@*:* 5 {{these arguments don't fit the endpoint's parameters}}
}

task<int> hide(int n) {
  const auto by_value = [n]() -> task<int> { co_return n; };
  auto by_reference = [&](int more) mutable -> task<int> {
    const int half = co_await twice(n);
    co_return half + more;
  };
  // expected-error@*:* 2 {{a lambda with a capture is a coroutine}}
  const int one = co_await by_value();
  co_return one + co_await by_reference(1);
}
#endif

template <class Make>
task<> call_twice(const Make& make) {
  co_await make();
  co_await make();
}

task<> show(int n) {
  const auto without_capture = [](int m) -> task<int> { co_return m; };
  const auto of_a_function = [n] { return twice(n); };
  co_await without_capture(n);
  co_await call_twice(of_a_function);
}

}  // namespace troupe
