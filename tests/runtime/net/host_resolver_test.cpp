#include "runtime/net/host_resolver.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tests/eventually.hpp"
#include "tests/runtime/net/slow_names.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using troupe::testing::eventually;
using troupe::testing::slow_names;

constexpr std::chrono::seconds soon(20);

/// An io_context with someone who waits for names.
struct asker {
  void ask(const std::string& host, const std::string& port = "80") {
    resolver.async_resolve(host, port,
                           [this](error_code with, const host_resolver::results& addresses) {
                             error = with;
                             found.clear();
                             for (const auto& each : addresses) {
                               found.insert(each.endpoint().address().to_string() + ":" +
                                            std::to_string(each.endpoint().port()));
                             }
                           });
  }
  /// Waits for the answer to the last question.
  bool is_told() { return io.run_one_for(soon) == 1; }

  asio::io_context io;
  const asio::executor_work_guard<asio::io_context::executor_type> runs{io.get_executor()};
  host_resolver resolver{io};
  std::optional<error_code> error;
  std::set<std::string> found;
};

TEST_CASE("host_resolver: an address in digits and a name of this machine are found") {
  asker one;
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    one.ask(host, "7700");
    REQUIRE(one.is_told());
    CHECK(one.error == error_code());
    CHECK(one.found.count("127.0.0.1:7700") == 1);
  }
  one.ask("::1", "7700");
  REQUIRE(one.is_told());
  CHECK(one.found == std::set<std::string>{"::1:7700"});
  one.ask("no.such.host.invalid");
  REQUIRE(one.is_told());
  CHECK(one.error != error_code());
  CHECK(one.found.empty());
}

TEST_CASE("host_resolver: a slow name delays no other one") {
  slow_names names;
  asker slow, quick;
  slow.ask("a.slow.test");
  CHECK(eventually([&] { return names.begun() == 1; }));
  quick.ask("localhost");
  REQUIRE(quick.is_told());
  CHECK(quick.error == error_code());
  CHECK_FALSE(slow.error);
  names.tell();
  REQUIRE(slow.is_told());
  CHECK(slow.found == std::set<std::string>{"127.0.0.1:80"});
}

TEST_CASE("host_resolver: a wait that is cancelled ends at once, and its lookup serves the next") {
  slow_names names;
  asker one;
  one.ask("b.slow.test");
  one.resolver.cancel();
  REQUIRE(one.is_told());
  CHECK(one.error == error_code(asio::error::operation_aborted));
  one.error.reset();
  for (int i = 0; i < 3; ++i) {
    one.ask("b.slow.test");
    one.resolver.cancel();
    REQUIRE(one.is_told());
  }
  one.ask("b.slow.test");
  names.tell();
  REQUIRE(one.is_told());
  CHECK(one.error == error_code());
  CHECK(names.begun() == 1);
}

TEST_CASE("host_resolver: neither an io_context nor its handlers wait for a slow name") {
  slow_names names;
  const auto captured = std::make_shared<int>(1);
  {
    asio::io_context io;
    host_resolver resolver(io);
    resolver.async_resolve("c.slow.test", "80", [captured](error_code, const auto&) { FAIL(); });
    CHECK(eventually([&] { return names.begun() == 1; }));
    CHECK(captured.use_count() == 2);
  }
  CHECK(captured.use_count() == 1);
  // A resolver that outlives its io_context has nothing to cancel.
  auto io = std::make_unique<asio::io_context>();
  host_resolver late(*io);
  late.async_resolve("c.slow.test", "80", [captured](error_code, const auto&) { FAIL(); });
  io.reset();
  CHECK(captured.use_count() == 1);
  late.cancel();
}

TEST_CASE("host_resolver: so many names are looked up at once, and one more is an error") {
  slow_names names;
  std::vector<std::unique_ptr<asker>> many;
  for (std::size_t i = 0; i < lookups_max; ++i) {
    many.push_back(std::make_unique<asker>());
    // It is refused at once while a lookup of another test still ends.
    REQUIRE(eventually([&, at = many.back().get()] {
      at->ask(std::to_string(i) + ".slow.test");
      return at->io.poll_one() == 0;
    }));
  }
  asker more;
  more.ask("more.slow.test");
  REQUIRE(more.is_told());
  CHECK(more.error == error_code(asio::error::host_not_found_try_again));
  names.tell();
  for (const auto& each : many) {
    REQUIRE(each->is_told());
    CHECK(each->error == error_code());
  }
  more.ask("more.slow.test");
  REQUIRE(more.is_told());
  CHECK(more.error == error_code());
}

}  // namespace
}  // namespace troupe::detail
