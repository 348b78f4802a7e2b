// Environments in processes of env-host.

#include "actors/worlds/environment_host.hpp"

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/metrics_observers.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/sanitizers.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/child_processes.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

constexpr std::uint64_t seed = 7;

struct asked {
  registered_environments environments{.request = {.id = "CartPole-v1"}, .count = 2};
  std::size_t memory_limit = 0;
};

task<service<hosted_environment>> serve(system& sys, asked what = {}) {
  serve_options hosting{.name = "environments",
                        .placement = placement::process,
                        .program = environment_host(),
                        .memory_limit = what.memory_limit};
  const training_metrics metrics(sys.metrics(), what.environments.request.id);
  auto observers = observers_of(metrics, what.environments.request.id);
  return sys.serve<hosted_environment>(
      std::move(hosting), hosted_environment::factory(std::move(what.environments)), seed,
      std::move(observers), std::optional<double>(), std::size_t{1});
}

void play(task<> (*main)(system&)) {
  log::set_level("off");
  system sys;
  sys.run(with_timeout(main(sys), 60s));
}

env_actions both(std::int64_t action) { return {.discrete = {action, action}, .continuous = {}}; }

task<> step_beside_own(system& sys) {
  hosted_environment own({}, registered_environments{.request = {.id = "CartPole-v1"}, .count = 2},
                         seed);
  const auto hosted = co_await serve(sys);
  const auto seen = co_await hosted.route<&hosted_environment::observe>();
  CHECK(seen.rows == own.observe().rows);
  for (int t = 0; t < 40; ++t) {
    const auto there = co_await hosted.route<&hosted_environment::step>(both(t % 2));
    const auto here = own.step(both(t % 2));
    CHECK(there.obs == here.obs);
    CHECK(there.finished.size() == here.finished.size());
  }
  const auto children = testing::own_children();
  REQUIRE(children.size() == 1);
  const auto maps = testing::file_of(children[0], "maps");
  CHECK_THAT(maps, Contains("env-host"));
  CHECK_THAT(maps, !Contains("libtorch") && !Contains("libc10"));
  CHECK_THAT(sys.metrics().text(),
             Contains("troupe_env_steps_total{env=\"CartPole-v1\",process=\"environments-0\"} 80"));
}

TEST_CASE("env-host: steps as this process does, counts, and has no libtorch") {
  play(step_beside_own);
}

task<> kill_and_restore(system& sys) {
  const auto hosted = co_await serve(sys);
  const auto before = co_await hosted.route<&hosted_environment::step>(both(1));
  const auto state = co_await hosted.route<&hosted_environment::save>();
  const auto children = testing::own_children();
  REQUIRE(children.size() == 1);
  ::kill(children[0], SIGKILL);
  for (bool back = false; !back;) {
    co_await sleep_for(1ms);
    const auto tried = co_await hosted.try_route<&hosted_environment::size>();
    const auto now = testing::own_children();
    back = tried.ok() && now != children;
  }
  co_await hosted.route<&hosted_environment::restore>(state);
  const auto after = co_await hosted.route<&hosted_environment::observe>();
  CHECK(after.rows == before.obs);
}

TEST_CASE("env-host: a process that is killed is replaced, and takes a saved state") {
  play(kill_and_restore);
}

#ifndef TROUPE_SANITIZED  // The sanitizers' shadow memory is above any limit.

task<> allocate_too_much(system& sys) {
  const auto small = co_await serve(sys, {.memory_limit = std::size_t{64} << 20});
  const auto seen = co_await small.route<&hosted_environment::observe>();
  CHECK(seen.environments == 2);
  sys.stop(small);
  std::string why;
  try {
    co_await serve(sys, {.environments = {.request = {.id = "CartPole-v1"}, .count = 1'000'000},
                         .memory_limit = std::size_t{64} << 20});
  } catch (const std::exception& e) {
    why = e.what();
  }
  CHECK_THAT(why, Contains("bad_alloc"));
}

TEST_CASE("env-host: keeps to its memory limit") { play(allocate_too_much); }

#endif

task<> step_plugin(system& sys) {
  const registered_environments counters{
      .request = {.id = testing::build_path("tests/actors/worlds/plugins/one.so")}, .count = 2};
  CHECK(environment_host_has(counters));
  const auto hosted = co_await serve(sys, {.environments = counters});
  const auto after = co_await hosted.route<&hosted_environment::step>(both(0));
  CHECK(after.obs == recycled_vector<float>{1, 1});
  const auto children = testing::own_children();
  REQUIRE(children.size() == 1);
  CHECK_THAT(testing::file_of(children[0], "maps"), Contains("one.so"));
}

TEST_CASE("env-host: loads plug-ins") { play(step_plugin); }

task<> ask_for_unknown(system& sys) {
  register_environment<cartpole>("OwnCartPole-v0");
  const registered_environments own{.request = {.id = "OwnCartPole-v0"}};
  CHECK_FALSE(environment_host_has(own));
  CHECK(environment_host_has({.request = {.id = "Pendulum-v1"}}));
  CHECK(environment_host_has({.tasks = {{"CartPole-v1"}, {"Acrobot-v1"}}}));
  CHECK_FALSE(environment_host_has({.tasks = {{"CartPole-v1"}, {"OwnCartPole-v0"}}}));
  std::string why;
  try {
    co_await serve(sys, {.environments = own});
  } catch (const std::exception& e) {
    why = e.what();
  }
  CHECK_THAT(why, Contains("OwnCartPole-v0"));
}

TEST_CASE("env-host: has Troupe's environments and not those of this program") {
  play(ask_for_unknown);
}

TEST_CASE("env-host: one of another build is left alone") {
  log::set_level("off");
  const auto own = environment_host();
  REQUIRE_FALSE(own.empty());
  const auto prefix = std::filesystem::temp_directory_path() / "troupe_environment_host_test";
  const auto host = prefix / "libexec" / "troupe" / "env-host";
  std::filesystem::create_directories(host.parent_path());
  ::setenv("TROUPE_PREFIX", prefix.c_str(), 1);
  std::ofstream(host) << "a program with the stamp 0.0.9-0123456789abcdef";
  CHECK(environment_host().empty());
  std::filesystem::copy_file(own, host, std::filesystem::copy_options::overwrite_existing);
  CHECK(environment_host() == host);
  std::filesystem::remove_all(prefix);
  CHECK(environment_host().empty());
  ::unsetenv("TROUPE_PREFIX");
}

}  // namespace
}  // namespace troupe
