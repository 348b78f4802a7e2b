// Calls that ask for a version of a role in another process.

#include "runtime/coroutine/sleep.hpp"
#include "tests/runtime/remote/everywhere.hpp"

namespace troupe {
namespace {

using namespace testing;

class learner {
 public:
  std::int64_t version() const { return version_; }
  void update(std::int64_t version) { version_ = version; }
  std::int64_t act(int) { return version_; }

 private:
  std::int64_t version_ = 0;
};

/// Elsewhere, asks a service that is here.
class actor {
 public:
  explicit actor(service<learner> learners) : learners_(learners) {}
  task<std::int64_t> act(std::int64_t min_version) {
    co_return co_await learners_.with({.min_version = min_version}).route<&learner::act>(0);
  }

 private:
  service<learner> learners_;
};

task<std::int64_t> ask_for(service<learner> learners, std::int64_t version) {
  co_return co_await learners.with({.min_version = version}).route<&learner::act>(0);
}

task<std::int64_t> act(service<actor> actors, std::int64_t version) {
  co_return co_await actors.route<&actor::act>(version);
}

task<> update_soon(service<learner> learners, std::int64_t version) {
  co_await sleep_for(20ms);
  co_await learners.fanout<&learner::update>(version);
}

task<> ask_for_versions(system& sys) {
  auto there =
      co_await sys.serve<learner>({.name = "there", .replicas = 2, .placement = elsewhere(sys)});
  auto mine = co_await there.session();
  co_await mine.route<&learner::update>(3);
  for (int i = 0; i < 20; ++i) {
    const auto version = co_await ask_for(there, 1);
    CHECK(version == 3);
  }
  const auto [waited, none] = co_await all(ask_for(there, 4), update_soon(there, 5));
  CHECK(waited == 5);

  auto here = co_await sys.serve<learner>({.name = "here", .replicas = 2});
  auto actors = co_await sys.serve<actor>({.name = "actors", .placement = elsewhere(sys)}, here);
  auto first = co_await here.session();
  co_await first.route<&learner::update>(1);
  for (int i = 0; i < 20; ++i) {
    const auto version = co_await actors.route<&actor::act>(1);
    CHECK(version == 1);
  }
  const auto [acted, nothing] = co_await all(act(actors, 2), update_soon(here, 2));
  CHECK(acted == 2);
}

}  // namespace

TEST_CASE("elsewhere: calls wait for a version, and go where it is") {
  run_everywhere(ask_for_versions);
}

}  // namespace troupe
