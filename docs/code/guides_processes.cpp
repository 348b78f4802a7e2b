// The code of docs/guides/processes.md that is in no example.

#include <cstdio>

#include "actors/policy/policy.hpp"
#include "actors/weights/give_weights.hpp"
#include "runtime/service/successor.hpp"
#include "runtime/system/run.hpp"

// readme: service
#include <cstdio>

#include "runtime/system/run.hpp"

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

 private:
  double precision_;
};

troupe::task<> demo(troupe::system& sys) {
  const bool has_nodes = sys.port() != 0;
  auto solvers = co_await sys.serve<solver>(
      {.name = "solvers",
       .replicas = 2,
       .placement = has_nodes ? troupe::placement::node("*") : troupe::placement::process,
       .idempotent = {troupe::endpoint<&solver::solve>}},  // May be asked again elsewhere.
      0.001);
  const double x = co_await solvers.route<&solver::solve>(equation{2, -3});
  std::printf("x = %.3f\n", x);
}

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
// readme: end

namespace docs::weights {
// readme: weights
#include "actors/policy/policy.hpp"
#include "actors/weights/give_weights.hpp"
#include "runtime/service/service.hpp"

troupe::task<> update(troupe::service<troupe::policy> policies, troupe::weights fresh) {
  co_await troupe::give_weights<&troupe::policy::update>(policies, fresh, 1);  // one by one
  const auto newest = policies.with({.min_version = fresh.version});
  co_await newest.route<&troupe::policy::version>();  // a replica with these weights answers
}
// readme: end
}  // namespace docs::weights

namespace docs::phases {
// readme: phases
#include "runtime/service/successor.hpp"
#include "runtime/system/system.hpp"

using table = std::vector<double>;

class estimator {
 public:
  estimator() : table_(std::static_pointer_cast<table>(troupe::take_from_predecessor("table"))) {
    if (!table_) table_ = std::make_shared<table>(1'000'000);  // This takes long.
  }
  ~estimator() {
    if (troupe::has_successor()) troupe::keep_for_successor("table", table_);
  }
  double at(std::size_t i) const { return table_->at(i); }

 private:
  std::shared_ptr<table> table_;
};

troupe::task<> phases(troupe::system& sys) {
  for (int phase = 0; phase < 3; ++phase) {
    auto estimators = co_await sys.serve<estimator>(
        {.name = "estimators", .replicas = 4, .placement = troupe::placement::process});
    co_await estimators.fanout<&estimator::at>(std::size_t{7});
    co_await sys.stop_all();  // The four processes stay for the next phase.
  }
}
// readme: end
}  // namespace docs::phases
