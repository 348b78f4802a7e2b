// Connections on which nothing arrives for a long time.

#include <poll.h>
#include <sys/socket.h>

#include <semaphore>
#include <thread>

#include "actors/openenv/client/client.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr unsigned char ping = 0x89, pong = 0x8a;

std::string reply_at(int step) {
  return reply_text(reply_kind::observation,
                    {{"observation", {{"step", step}}}, {"reward", 1}, {"done", false}});
}

/// Carries bytes both ways, and tells of pings and pongs that come alone. Pings can be dropped.
struct tunnel {
  bool drops_pings = false;
  std::counting_semaphore<> pings{0}, pongs{0};

  void operator()(int client, int served) {
    std::string bytes(16'384, '\0');
    const auto carry = [&](int from, int to) {
      const auto count = ::recv(from, bytes.data(), bytes.size(), 0);
      if (count <= 0) return false;
      const auto head = static_cast<unsigned char>(bytes[0]);
      if (head == ping) pings.release();
      if (head == pong) pongs.release();
      if (head == ping && drops_pings) return true;
      return ::send(to, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
    };
    for (;;) {
      pollfd both[]{{client, POLLIN, 0}, {served, POLLIN, 0}};
      if (::poll(both, 2, 60'000) <= 0) return;
      if (both[0].revents != 0 && !carry(client, served)) return;
      if (both[1].revents != 0 && !carry(served, client)) return;
    }
  }
};

task<std::string> take_one_step(client games) {
  auto game = games.open();
  co_await game.reset();
  try {
    const json action = json::object();
    const auto got = co_await game.step(action);
    co_return got.observation.dump();
  } catch (const error& e) {
    co_return e.what();
  }
}

/// Takes two steps, and returns how the second one failed.
task<std::string> take_two_steps(client games) {
  auto game = games.open();
  const json action = json::object();
  co_await game.reset();
  co_await game.step(action);
  std::string why;
  try {
    co_await game.step(action);
  } catch (const error& e) {
    why = e.what();
  }
  co_return why;
}

TEST_CASE("openenv client: a tunnel that drops pings doesn't end a step that takes long",
          "[openenv]") {
  tunnel through{.drops_pings = true};
  const auto serve = [&](fake_connection& to) {
    to.receive();
    to.send_text(reply_at(0));
    to.receive();
    for (int i = 0; i < 4; ++i) through.pings.acquire();  // twice the keepalive
    to.send_text(reply_at(1));
    to.receive();
  };
  const fake_server slow({.session = serve, .http = {}, .front = std::ref(through)});
  troupe::system sys;
  CHECK(sys.run(take_one_step(client({.urls = {slow.url()}, .keepalive = 60ms}))) ==
        R"({"step":1})");
}

TEST_CASE("openenv client: a server that has answered pings and is silent then is left",
          "[openenv]") {
  testing::log_off();
  tunnel through;
  std::binary_semaphore over{0};
  const auto serve = [&](fake_connection& to) {
    to.receive();
    to.send_text(reply_at(0));
    to.receive();
    std::thread later([&] {
      through.pongs.acquire();
      to.send_text(reply_at(1));
    });
    to.receive();  // answers pings until the next step
    later.join();
    over.acquire();
  };
  const fake_server dying({.session = serve, .http = {}, .front = std::ref(through)});
  troupe::system sys;
  const client games({.urls = {dying.url()}, .keepalive = 60ms});
  const auto why = sys.run(take_two_steps(games));
  over.release();
  CHECK_THAT(why, Catch::Contains("no sign of life for 60 ms"));
}

}  // namespace
}  // namespace troupe::openenv
