#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct worker {
  // Plain.
  int add(int n) { return total += n; }
  std::string joined(const std::string& a, std::string b) const { return a + b; }
  std::unique_ptr<int> owned(std::unique_ptr<int> n) { return n; }
  void throw_text() { throw std::runtime_error("text"); }
  void throw_number() { throw 42; }
  void note(tracked) {}

  // Coroutine.
  task<int> slowly(int n, duration pause) {
    most = std::max(most, ++ongoing);
    co_await sleep_for(pause);
    --ongoing;
    co_return n;
  }
  task<int> by_reference(const std::string& text) {
    co_await sleep_for(1ms);
    co_return static_cast<int>(text.size());
  }
  task<> throw_later() {
    co_await sleep_for(1ms);
    throw std::runtime_error("later");
  }
  int most_ongoing() { return most; }

  int total = 0;
  int ongoing = 0;
  int most = 0;
};

task<> plain(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers"});
  co_await workers.route<&worker::add>(2);
  const int total = co_await workers.route<&worker::add>(3);
  CHECK(total == 5);
  const auto text = co_await workers.route<&worker::joined>("left ", "right");
  CHECK(text == "left right");
  const auto owned = co_await workers.route<&worker::owned>(std::make_unique<int>(4));
  CHECK(*owned == 4);
  co_await workers.route<&worker::note>(tracked());
}

task<> errors(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers"});
  const auto failed = co_await workers.try_route<&worker::throw_text>();
  try {
    failed.value();
    FAIL("no error");
  } catch (const role_error& e) {
    CHECK(std::string(e.what()) == "role_error: workers.worker::throw_text threw: text");
    CHECK(describe(e.cause()) == "text");
  }
  const auto odd = co_await workers.try_route<&worker::throw_number>();
  CHECK(describe(odd.error()) ==
        "role_error: workers.worker::throw_number threw: an exception that is not a "
        "std::exception");
  const auto late = co_await workers.try_route<&worker::throw_later>();
  CHECK(describe(late.error()) == "role_error: workers.worker::throw_later threw: later");
  const int total = co_await workers.route<&worker::add>(1);
  CHECK(total == 1);  // It goes on serving.
}

task<int> slowly(service<worker> workers, int n) {
  const int result = co_await workers.route<&worker::slowly>(n, 10ms);
  co_return result;
}

task<> coroutines_overlap(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers", .max_ongoing = 8});
  std::vector<task<int>> calls;
  for (int i = 0; i < 40; ++i) calls.push_back(slowly(workers, i));
  const auto results = co_await all(std::move(calls));
  for (int i = 0; i < 40; ++i) CHECK(results[static_cast<std::size_t>(i)] == i);
  const int most = co_await workers.route<&worker::most_ongoing>();
  CHECK(most == 8);
  const int now = co_await workers.route<&worker::add>(1);
  CHECK(now == 1);
}

task<> call_for_an_hour(service<worker> workers) { co_await workers.route<&worker::slowly>(1, 1h); }

task<> served_meanwhile(group& g, service<worker> workers, int& answer) {
  g.start(call_for_an_hour(workers));
  co_await sleep_for(1ms);
  answer = co_await workers.route<&worker::add>(7);
}

task<> coroutines_leave_the_replica_free(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "workers"});
  int answer = 0;
  co_await with_group([&](group& g) { return served_meanwhile(g, workers, answer); });
  CHECK(answer == 7);
}

task<> references_live(system& sys) {
  auto plain = co_await sys.serve<worker>({.name = "plain"});
  const std::string text(1000, 'x');
  const int size = co_await plain.route<&worker::by_reference>(text);
  CHECK(size == 1000);
  auto retried = co_await sys.serve<worker>(
      {.name = "retried", .idempotent = {endpoint<&worker::by_reference>}});
  const int again = co_await retried.route<&worker::by_reference>(text);
  CHECK(again == 1000);
}

// ---- batched

struct batcher {
  batch<int> twice(batch<int> items) {
    sizes.push_back(items.size());
    batch<int> results;
    for (const int n : items) {
      if (n < 0) {
        results.push_error(std::make_exception_ptr(std::runtime_error("negative")));
      } else {
        results.push_back(2 * n);
      }
    }
    return results;
  }
  batch<int> throwing(batch<int> items) {
    for (const int n : items) {
      if (n == 13) throw std::runtime_error("thirteen");
    }
    return items;
  }
  batch<int> one_short(batch<int> items) {
    batch<int> results;
    for (std::size_t i = 1; i < items.size(); ++i) results.push_back(items[i]);
    return results;
  }
  int other() { return 1; }
  std::vector<std::size_t> batches() { return sizes; }
  std::vector<std::size_t> sizes;
};

template <auto F>
task<outcome<int>> single(service<batcher> to, int n) {
  auto result = co_await to.template try_route<F>(n);
  co_return result;
}

template <auto F>
task<std::vector<outcome<int>>> singles(service<batcher> to, int from, int end) {
  std::vector<task<outcome<int>>> calls;
  for (int i = from; i < end; ++i) calls.push_back(single<F>(to, i));
  auto results = co_await all(std::move(calls));
  co_return results;
}

task<> batches_gather(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers"});
  const auto results = co_await singles<&batcher::twice>(batchers, 0, 64);
  for (int i = 0; i < 64; ++i) CHECK(results[static_cast<std::size_t>(i)].value() == 2 * i);
  const auto sizes = co_await batchers.route<&batcher::batches>();
  CHECK(sizes.size() <= 4);
}

task<> batches_are_bounded(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers", .max_batch = 8});
  const auto results = co_await singles<&batcher::twice>(batchers, 0, 64);
  CHECK(results[63].value() == 126);
  const auto sizes = co_await batchers.route<&batcher::batches>();
  CHECK(sizes.size() >= 8);
  for (const auto size : sizes) CHECK(size <= 8);
}

task<> a_lone_call_does_not_wait(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers"});
  const auto start = detail::strand::current().now();
  const int n = co_await batchers.route<&batcher::twice>(4);
  CHECK(n == 8);
  CHECK(detail::strand::current().now() == start);
}

task<> spread(service<batcher> to, int n) {
  co_await sleep_for(duration(1ms) * n);
  const int twice = co_await to.route<&batcher::twice>(n);
  CHECK(twice == 2 * n);
}

task<> batches_wait_for_more(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers", .max_delay = 20ms});
  std::vector<task<>> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(spread(batchers, i));
  co_await all(std::move(calls));
  auto sizes = co_await batchers.route<&batcher::batches>();
  CHECK(sizes == std::vector<std::size_t>{10});
  // Another one, and none that the timer of the first closes too early.
  co_await sleep_for(5ms);
  const auto start = detail::strand::current().now();
  co_await batchers.route<&batcher::twice>(1);
  CHECK(detail::strand::current().now() - start >= 20ms);
}

task<> item_errors(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers"});
  const auto results = co_await singles<&batcher::twice>(batchers, -1, 3);
  CHECK(describe(results[0].error()) == "role_error: batchers.batcher::twice threw: negative");
  for (int i = 1; i < 4; ++i) CHECK(results[static_cast<std::size_t>(i)].value() == 2 * (i - 1));
}

task<> batch_errors(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers", .max_batch = 8});
  auto results = co_await singles<&batcher::throwing>(batchers, 10, 18);
  int failed = 0;
  for (const auto& r : results) failed += !r.ok();
  CHECK(failed >= 1);
  CHECK(describe(results[3].error()) == "role_error: batchers.batcher::throwing threw: thirteen");
  results = co_await singles<&batcher::throwing>(batchers, 20, 28);
  for (const auto& r : results) CHECK(r.ok());
  const auto shortened = co_await batchers.try_route<&batcher::one_short>(1);
  CHECK(describe(shortened.error()) ==
        "role_error: batchers.batcher::one_short threw: batcher::one_short answered 0 items of a "
        "batch of 1");
}

// Other endpoints' calls keep the mailbox full; the batch closes all the same.
task<> keep_busy(service<batcher> to) {
  while (true) co_await to.route<&batcher::other>();
}

task<> ask_among_others(group& g, service<batcher> to) {
  for (int i = 0; i < 20; ++i) g.start(keep_busy(to));
  co_await sleep_for(0ms);
  const int n = co_await to.route<&batcher::twice>(3);
  CHECK(n == 6);
}

task<> batches_close_among_others(system& sys) {
  auto batchers = co_await sys.serve<batcher>({.name = "batchers"});
  co_await with_group([&](group& g) { return ask_among_others(g, batchers); });
}

template <class T>
struct queue_of {
  void insert(T item) { items.push_back(std::move(item)); }
  std::vector<T> items;
};

}  // namespace

TEST_CASE("endpoint: its name is its role's and its own, template arguments included") {
  CHECK(endpoint<&worker::add>->name == "worker::add");
  CHECK(endpoint<&queue_of<troupe::duration>::insert>->name.starts_with("queue_of<std::chrono::"));
  CHECK(endpoint<&queue_of<troupe::duration>::insert>->name.ends_with(">::insert"));
}
TEST_CASE("endpoint: a plain one gets its arguments and gives its value") {
  testing::play(plain);
  CHECK(testing::tracked::live == 0);
}
TEST_CASE("endpoint: what it throws reaches the caller, and the replica goes on") {
  testing::play(errors);
}
TEST_CASE("endpoint: coroutine calls overlap up to max_ongoing") {
  testing::play(coroutines_overlap);
}
TEST_CASE("endpoint: while a coroutine call waits, the replica serves others") {
  testing::play(coroutines_leave_the_replica_free);
}
TEST_CASE("endpoint: a coroutine may take its arguments by reference") {
  testing::play(references_live);
}
TEST_CASE("batch: 64 concurrent calls are gathered in few batches") {
  testing::play(batches_gather);
}
TEST_CASE("batch: none is larger than max_batch") { testing::play(batches_are_bounded); }
TEST_CASE("batch: a lone call does not wait") { testing::play(a_lone_call_does_not_wait); }
TEST_CASE("batch: max_delay lets calls come together") { testing::play(batches_wait_for_more); }
TEST_CASE("batch: an item's error reaches its caller only") { testing::play(item_errors); }
TEST_CASE("batch: a throw or a wrong size reaches that batch's callers only") {
  testing::play(batch_errors);
}
TEST_CASE("batch: it closes while calls of other endpoints keep coming") {
  testing::play(batches_close_among_others);
}

}  // namespace troupe
