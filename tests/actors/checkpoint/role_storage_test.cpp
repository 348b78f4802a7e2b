#include "actors/checkpoint/role_storage.hpp"

#include <atomic>
#include <memory>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct notes : role_storage {
  int written = 0;
};

/// Whose endpoint is stuck until the test lets it go, and writes then.
class note_keeper {
 public:
  explicit note_keeper(std::shared_ptr<notes> on)
      : notes_(std::move(on)), claim_(*notes_, "note_keeper") {}
  void write(std::shared_ptr<std::atomic<bool>> go) {
    go->wait(false);
    ++notes_->written;
  }
  int written() const { return notes_->written; }

 private:
  std::shared_ptr<notes> notes_;
  storage_claim claim_;
};

struct hang_ends {
  std::string write, early;
  int written = 0;
};

task<hang_ends> hang_on_a_shelf(system& sys) {
  hang_ends ends;
  const auto go = std::make_shared<std::atomic<bool>>(false);
  auto keeper = co_await sys.serve<note_keeper>({.name = "keeper",
                                                 .placement = placement::thread,
                                                 .max_restarts = 1'000'000,
                                                 .backoff = 1ms,
                                                 .backoff_limit = 10ms,
                                                 .idempotent = {endpoint<&note_keeper::written>},
                                                 .max_call_time = 200ms},
                                                std::make_shared<notes>());
  const auto stuck = co_await keeper.try_route<&note_keeper::write>(go);
  ends.write = describe(stuck.error());
  const auto hurried = keeper.with({.deadline = 300ms});
  const auto early = co_await hurried.try_route<&note_keeper::written>();
  ends.early = early ? "answered" : describe(early.error());
  *go = true;
  go->notify_all();
  ends.written = co_await keeper.route<&note_keeper::written>();
  co_return ends;
}

TEST_CASE("storage: the successor of an abandoned replica starts when that writes no more") {
  log_off();
  system sys({.threads = 2});
  const auto ends = sys.run(hang_on_a_shelf(sys));
  CHECK_THAT(ends.write, has_text("replica_lost"));
  CHECK_THAT(ends.early, has_text("no answer within 300 ms"));
  CHECK(ends.written == 1);
}

TEST_CASE("storage: one role has it at a time, and another after it") {
  notes on;
  {
    const storage_claim first(on, "keeper");
    CHECK_THROWS_WITH(storage_claim(on, "keeper"),
                      has_text("keeper: expected storage that no other replica has"));
  }
  const storage_claim second(on, "keeper");
}

}  // namespace
}  // namespace troupe
