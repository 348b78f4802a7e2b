#include "runtime/service/state/service_state.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

/// An actor that never gets to what it is told.
class busy_inbox final : public detail::inbox {
 public:
  void request(detail::ref<detail::call_base>, priority) override {}
  void reply(detail::ref<detail::call_base>) override {}
  void post(std::function<void()>) override {}
  void post_last(std::function<void()>) override {}
  void ring() override {}
  void kill(const char*) override {}
};

std::shared_ptr<detail::ticket> make_ticket() {
  auto t = std::make_shared<detail::ticket>();
  t->who = detail::ref<detail::inbox>(new busy_inbox);
  return t;
}

}  // namespace

TEST_CASE("service queue: who is notified keeps a place, so that coming back exceeds no bound") {
  const auto state =
      std::make_shared<detail::service_state>(0, serve_options{.name = "s", .max_waiting = 2});
  const auto first = make_ticket(), second = make_ticket(), third = make_ticket();
  REQUIRE(state->wait(first));
  REQUIRE(state->wait(second));
  CHECK_FALSE(state->wait(third));
  const auto slot = std::make_shared<detail::replica_slot>(0);
  slot->where = first->who;
  state->publish(slot);  // Calls all up.
  CHECK(state->waiting() == 0);
  CHECK_FALSE(state->wait(third));
  CHECK(state->wait(first));
  CHECK(state->wait(second));
  CHECK(state->waiting() == 2);
  state->leave(*first, nullptr);
  CHECK(state->wait(third));
  CHECK(state->waiting() == 2);
}

}  // namespace troupe
