#include "tests/runtime/simulation/versions.hpp"

#include <algorithm>

namespace troupe::simulation {

namespace {

using namespace std::chrono_literals;

/// What outlives replicas.
struct store {
  int newest = 0;  ///< What replicas catch up with.
  int pushed = 0;  ///< The newest whose push has ended.
};

class student {
 public:
  student(const replica_info& info, ledger* book, const store* versions)
      : info_(info), book_(*book), store_(*versions), alive_(*book) {}

  /// It has what is newest at the beginning, and serves a while later.
  task<> catch_up() {
    counted_frame here(book_);
    version_ = store_.newest;
    co_await sleep_for(duration(1ms) * ((info_.index * 5 + info_.generation * 3) % 12));
  }
  void learn(int version) { version_ = std::max(version_, version); }
  int version() { return version_; }
  void die() { throw fatal("the workload asked for it"); }
  task<int> version_later(duration pause) {
    counted_frame here(book_);
    const int now = version_;
    co_await sleep_for(pause);
    co_return now;
  }

 private:
  const replica_info info_;
  ledger& book_;
  const store& store_;
  counted_frame alive_;
  int version_ = 0;
};

task<> push_all(system& sys, service<student> students, store& versions, dice random,
                ledger& book) {
  counted_frame here(book);
  const auto control = students.with({.priority = priority::control});
  for (int version = 1; version <= 8; ++version) {
    co_await sys.scale(students, static_cast<std::size_t>(1 + random.below(4)));
    co_await sleep_for(duration(1ms) * random.below(20));  // It trains.
    versions.newest = version;
    const auto settled = co_await control.fanout_settled<&student::learn>(version);
    for (const auto& each : settled) {
      const auto text = describe(each.error());
      book.require(each.ok() || text.starts_with("replica_lost"), "a push fails only by a death",
                   text);
    }
    versions.pushed = version;
  }
}

task<> ask_often(service<student> students, const store& versions, dice random, ledger& book) {
  counted_frame here(book);
  while (versions.pushed < 8) {
    if (random.once_in(10)) co_await students.try_route<&student::die>();
    const auto known = versions.pushed;
    auto call = random.once_in(2)
                    ? students.try_route<&student::version>()
                    : students.try_route<&student::version_later>(duration(1ms) * random.below(15));
    const auto result = co_await call;
    if (!result.ok()) continue;
    const auto behind = known - result.value();
    if (behind > 0) ++book.ends["answers one version behind"];
    book.require(behind <= 1, "no answer is staler than one version",
                 "version " + std::to_string(result.value()) + " answered after the push of " +
                     std::to_string(known));
    book.require(result.value() <= versions.newest, "no version before its time",
                 "version " + std::to_string(result.value()));
    co_await sleep_for(duration(1ms) * random.below(5));
  }
}

}  // namespace

task<> push_versions(system& sys, dice random, ledger& book) {
  counted_frame here(book);
  store versions;
  serve_options options{.name = "students", .replicas = 3};
  options.max_restarts = 1'000'000;
  options.backoff = 2ms;
  options.backoff_limit = 20ms;
  options.drain_timeout = 50ms;
  options.idempotent = {endpoint<&student::version>, endpoint<&student::version_later>};
  options.hedged = options.idempotent;
  options.hedge_after = duration(1ms) * (1 + random.below(15));
  const store* seen = &versions;
  auto students = co_await sys.serve<student>(options, &book, seen);
  std::vector<task<>> parts;
  parts.push_back(push_all(sys, students, versions, random.fork(), book));
  for (int i = 0; i < 3; ++i) {
    parts.push_back(ask_often(students, versions, random.fork(), book));
  }
  co_await all(std::move(parts));
  sys.stop(students);
  co_await sleep_for(1s);  // The students look at the store until they have ended.
}

}  // namespace troupe::simulation
