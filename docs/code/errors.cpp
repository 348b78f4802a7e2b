// The code of docs/errors.md.

#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/system/run.hpp"

namespace {

struct counter {
  int add(int n) { return total_ += n; }

 private:
  int total_ = 0;
};

troupe::task<> demo(troupe::system& sys) {
  auto counters = co_await sys.serve<counter>({.name = "counter"});
  // readme: catch
  try {
    const int sum = co_await counters.route<&counter::add>(3);
    troupe::log::info("added", {{"sum", sum}});
  } catch (const troupe::call_error& error) {
    if (error.kind() != troupe::error_kind::replica_lost) throw;
    troupe::log::warn("the replica died", {{"error", error.what()}});
  }
  // readme: end

  // readme: try_route
  const auto sum = co_await counters.try_route<&counter::add>(3);  // an outcome; it does not throw
  if (!sum) troupe::log::warn("not added", {{"error", troupe::describe(sum.error())}});
  if (sum) troupe::log::info("added", {{"sum", *sum}});
  // readme: end
}

}  // namespace

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
