// Actors whose turns come before others', where all threads of the pool are busy.

#include <future>

#include "runtime/service/call/host.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/runtime/support.hpp"

namespace troupe::detail {
namespace {

using namespace testing;

class ordinary final : public host {
 public:
  ordinary(caf::actor_config& config, system_core& system) : host(config, system, "ordinary") {
    made();
  }
};

class reserved final : public reserved_host {
 public:
  reserved(caf::actor_config& config, system_core& system)
      : reserved_host(config, system, "reserved", turns::reserved) {
    made();
  }
  static reserved& here() { return static_cast<reserved&>(static_cast<host&>(strand::current())); }
  using host::watch;
};

class assured final : public host {
 public:
  assured(caf::actor_config& config, system_core& system)
      : host(config, system, "assured", turns::assured) {
    made();
  }
};

template <class Kind>
ref<inbox> start(system_core& in) {
  return make_local_inbox(
      caf::actor_cast<caf::strong_actor_ptr>(in.actors().spawn<Kind>(std::ref(in))));
}

/// Set from one thread, awaited on another. Ten seconds are for ever here.
struct moment {
  void set() { made.set_value(); }
  bool comes() { return when.wait_for(10s) == std::future_status::ready; }
  std::promise<void> made;
  std::shared_future<void> when{made.get_future()};
};

TEST_CASE("reserved: an actor that hears of another's end doesn't wait behind the pool's jobs") {
  log_off();
  system sys({.threads = 1});
  auto& core = core_of(sys);
  const auto urgent = start<reserved>(core);
  const auto watched = start<ordinary>(core), first = start<ordinary>(core),
             second = start<ordinary>(core);
  moment watches, blocks, goes_on, blocks_again, answered;
  bool in_time = false;
  urgent->post([&] {
    reserved::here().watch(*watched);
    watches.set();
  });
  REQUIRE(watches.comes());
  first->post([&] {
    blocks.set();
    goes_on.comes();
  });
  REQUIRE(blocks.comes());
  // The pool's only thread ends one and then is blocked by the other. Who watches hears of the end
  // in between.
  watched->kill("asked to");
  second->post([&] {
    blocks_again.set();
    in_time = answered.comes();
  });
  goes_on.set();
  REQUIRE(blocks_again.comes());
  urgent->post([&] { answered.set(); });
  CHECK(answered.comes());
  moment done;
  second->post([&] { done.set(); });
  REQUIRE(done.comes());
  CHECK(in_time);
  for (const auto& each : {urgent, first, second}) each->kill("the test ends");
}

TEST_CASE("reserved: an assured actor has its turn where the pool stands and gets no thread more") {
  log_off();
  system sys({.threads = 1});
  auto& core = core_of(sys);
  const auto first = start<ordinary>(core), second = start<assured>(core);
  moment blocks, answered;
  bool in_time = false;
  const no_thread_left scarce;
  first->post([&] {
    blocks.set();
    in_time = answered.comes();
  });
  REQUIRE(blocks.comes());
  second->post([&] { answered.set(); });
  moment done;
  first->post([&] { done.set(); });
  REQUIRE(done.when.wait_for(30s) == std::future_status::ready);
  CHECK(in_time);
  for (const auto& each : {first, second}) each->kill("the test ends");
}

}  // namespace
}  // namespace troupe::detail
