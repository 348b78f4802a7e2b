// https and wss, with certificates of an authority that the test makes.

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>

#include "actors/openenv/client/client.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

/// An authority, and a server's certificate for that host.
struct authority {
  explicit authority(const std::string& host) {
    make_authority(folder.path, std::chrono::days(1));
    mine = issue_certificate(folder.path, {.name = "server",
                                           .role = "controller",
                                           .hosts = {host},
                                           .valid_for = std::chrono::days(1)});
  }
  std::string file() const { return folder.path / "ca.pem"; }

  temporary_folder folder;
  std::filesystem::path mine;
};

struct free_context {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct free_connection {
  void operator()(SSL* connection) const { SSL_free(connection); }
};

/// A server's end of TLS before a socket without it.
class tls_front {
 public:
  explicit tls_front(const std::filesystem::path& certificates)
      : context_(SSL_CTX_new(TLS_server_method()), free_context()) {
    const auto file = [&](const char* name) { return (certificates / name).string(); };
    if (SSL_CTX_use_certificate_chain_file(context_.get(), file("cert.pem").c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(context_.get(), file("key.pem").c_str(), SSL_FILETYPE_PEM) != 1)
      throw std::runtime_error("the test's certificates can't be used");
  }

  void operator()(int client, int served) const {
    const std::unique_ptr<SSL, free_connection> tls(SSL_new(context_.get()));
    SSL_set_fd(tls.get(), client);
    if (SSL_accept(tls.get()) != 1) return;
    std::string bytes(16'384, '\0');
    const auto size = static_cast<int>(bytes.size());
    for (;;) {
      pollfd both[]{{client, POLLIN, 0}, {served, POLLIN, 0}};
      if (SSL_pending(tls.get()) == 0 && ::poll(both, 2, 60'000) <= 0) return;
      if (SSL_pending(tls.get()) > 0 || both[0].revents != 0) {
        const int count = SSL_read(tls.get(), bytes.data(), size);
        if (count <= 0) return;
        if (::send(served, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) != count)
          return;
      }
      if (both[1].revents != 0) {
        const auto count = ::recv(served, bytes.data(), bytes.size(), 0);
        if (count <= 0 || SSL_write(tls.get(), bytes.data(), static_cast<int>(count)) <= 0) return;
      }
    }
  }

 private:
  std::shared_ptr<SSL_CTX> context_;
};

std::string observation_of(int step) {
  return reply_text(reply_kind::observation,
                    {{"observation", {{"step", step}}}, {"reward", 1}, {"done", step == 50}});
}

void count_steps(fake_connection& to) {
  for (int step = 0; !to.receive().empty(); ++step) to.send_text(observation_of(step));
}

task<int> play_50_steps(client games) {
  auto game = games.open();
  auto now = co_await game.reset();
  const json action{{"a", 1}};
  int steps = 0;
  for (; !now.ended; ++steps) now = co_await game.step(action);
  co_return steps;
}

/// What the client says of a server that it does not trust.
std::string refusal(const client_options& options) {
  troupe::system sys;
  try {
    sys.run(play_50_steps(client(options)));
  } catch (const error& e) {
    CHECK(e.reason() == failure::connect);
    return e.what();
  }
  return "it was trusted";
}

TEST_CASE("openenv TLS: a server with a certificate of a known authority is played on",
          "[openenv]") {
  const authority known("127.0.0.1");
  const fake_server server({.session = count_steps, .http = {}, .front = tls_front(known.mine)});
  const auto url = "https://127.0.0.1:" + std::to_string(server.port());
  troupe::system sys;
  CHECK(sys.run(play_50_steps(client({.urls = {url}, .authorities = known.file()}))) == 50);
  std::vector<task<int>> eight;
  const client games({.urls = {url}, .authorities = known.file()});
  for (int i = 0; i < 8; ++i) eight.push_back(play_50_steps(games));
  CHECK(sys.run(all(std::move(eight))) == std::vector<int>(8, 50));
}

TEST_CASE("openenv TLS: the older servers are played on over HTTPS", "[openenv]") {
  const authority known("127.0.0.1");
  int step = 0;
  const auto answer = [&](const fake_request& asked) -> std::pair<int, std::string> {
    if (asked.path == "/health") return {200, R"({"status":"healthy"})"};
    if (asked.path == "/schema") return {404, "{}"};
    step = asked.path == "/reset" ? 0 : step + 1;
    return {200, json::parse(observation_of(step))["data"].dump()};
  };
  const fake_server server({.session = {}, .http = answer, .front = tls_front(known.mine)});
  const auto url = "https://127.0.0.1:" + std::to_string(server.port());
  troupe::system sys;
  CHECK(sys.run(play_50_steps(client({.urls = {url}, .authorities = known.file()}))) == 50);
}

TEST_CASE("openenv TLS: a server that nobody known vouches for is refused", "[openenv]") {
  const authority known("127.0.0.1"), other("127.0.0.1"), elsewhere("elsewhere.example");
  const fake_server server({.session = count_steps, .http = {}, .front = tls_front(known.mine)});
  const auto url = "wss://127.0.0.1:" + std::to_string(server.port());
  CHECK_THAT(refusal({.urls = {url}, .authorities = other.file()}),
             Catch::Contains("certificate verify failed") && Catch::Contains(url.substr(6)));
  CHECK_THAT(refusal({.urls = {url}}), Catch::Contains("certificate verify failed"));

  const fake_server stranger(
      {.session = count_steps, .http = {}, .front = tls_front(elsewhere.mine)});
  const auto wrong_host = "https://127.0.0.1:" + std::to_string(stranger.port());
  CHECK_THAT(refusal({.urls = {wrong_host}, .authorities = elsewhere.file()}),
             Catch::Contains("certificate verify failed") &&  // Boost may add where it comes from
                 Catch::Contains(": IP address mismatch"));

  const fake_server plain({.session = count_steps, .http = {}});
  const auto no_tls = "https://127.0.0.1:" + std::to_string(plain.port());
  CHECK_THAT(refusal({.urls = {no_tls}, .connect_timeout = std::chrono::milliseconds(300)}),
             Catch::Contains("no connection within 300 ms") || Catch::Contains("TLS: "));
}

TEST_CASE("openenv TLS: a file without certificates is refused by its name", "[openenv]") {
  const temporary_folder folder;
  const std::string file = folder.path / "none.pem";
  std::ofstream(file) << "nothing";
  const auto make = [&] { client({.urls = {"https://localhost"}, .authorities = file}); };
  CHECK_THROWS_WITH(make(), Catch::Contains("authorities") && Catch::Contains(file));
}

TEST_CASE("openenv TLS: a FIFO of certificates is refused, and nothing waits for its writer",
          "[openenv]") {
  const temporary_folder folder;
  const std::string file = folder.path / "fifo.pem";
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  const auto make = [&] { client({.urls = {"https://localhost"}, .authorities = file}); };
  CHECK_THROWS_WITH(make(), Catch::Contains("authorities") && Catch::Contains("got a FIFO"));
}

}  // namespace
}  // namespace troupe::openenv
