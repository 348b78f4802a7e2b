#include "runtime/cluster/acceptor.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "runtime/base/quiet_thread.hpp"
#include "runtime/net/accept_loop.hpp"
#include "runtime/net/listen.hpp"
#include "runtime/net/own_hosts.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto look_every = std::chrono::milliseconds(250);

/// Resolves HOST:PORT, or [HOST]:PORT for IPv6.
tcp::endpoint find_address(asio::io_context& io, const std::string& text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  if (host.empty() || !digits || std::stoi(port) > 65535) {
    throw std::invalid_argument("expected HOST:PORT to listen at, got \"" + text + "\"");
  }
  error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, port, tcp::resolver::passive, error);
  if (error || found.empty()) {
    throw std::runtime_error("cannot listen at " + text + ": " + error.message());
  }
  return found.begin()->endpoint();
}

/// Finds an address that may be listened at.
tcp::endpoint find_permitted(asio::io_context& io, const std::string& address, bool secure) {
  const auto endpoint = find_address(io, address);
  if (!secure && !is_loopback(endpoint.address().to_string())) {
    throw std::invalid_argument(
        "cannot listen at " + address +
        " without certificates: expected a loopback address such as 127.0.0.1:7777, or --certs "
        "DIR; `troupe certs init` and `troupe certs add` make them");
  }
  return endpoint;
}

tcp::acceptor listen(asio::io_context& io, const acceptor_options& options) {
  const auto endpoint = find_permitted(io, options.address, options.secure);
  error_code error;
  auto acceptor = listen_at(io, endpoint, error);
  if (error)
    throw std::runtime_error("cannot listen at " + options.address + ": " + error.message());
  return acceptor;
}

/// Returns why a connection that begins with these bytes is refused; empty if it isn't. A TLS
/// record of a handshake begins with 22 and 3 (RFC 8446, 5.1), HTTP/2 with its preface (RFC 9113,
/// 3.4).
std::optional<join_refusal> find_refusal(std::string_view first, bool secure) {
  constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", record = "\x16\x03";
  const auto begins_like = [&](std::string_view whole) {
    const auto n = std::min(first.size(), whole.size());
    return first.substr(0, n) == whole.substr(0, n);
  };
  if (begins_like(secure ? record : preface)) return {};
  if (secure && begins_like(preface)) {
    return join_refusal{"plain_text", "expected TLS, got plain text"};
  }
  return join_refusal{"garbage", secure ? "expected TLS" : "expected HTTP/2 in plain text"};
}

}  // namespace

void check_listen_address(const std::string& address, bool secure) {
  asio::io_context io;
  find_permitted(io, address, secure);
}

class acceptor::port_at {
 public:
  port_at(acceptor_options options, handlers then)
      : options_(std::move(options)),
        then_(std::move(then)),
        entrance_(io_, listen(io_, options_),
                  [this](accept_loop::socket socket) { wait_for_first(std::move(socket)); }),
        watch_(io_),
        port_(entrance_.port()) {}

  ~port_at() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  void open() {
    entrance_.accept();
    thread_ = quiet_thread([this] { io_.run(); });
  }

  std::uint16_t port() const { return port_; }

 private:
  using time_point = std::chrono::steady_clock::time_point;
  struct visitor {
    tcp::socket socket;
    time_point until;
    /// The position in silent_ while it waits.
    std::list<std::shared_ptr<visitor>>::iterator place;
    bool waits = true;
  };

  void wait_for_first(tcp::socket socket) {
    if (silent_.size() >= options_.silent_max) turn_away_oldest();
    const bool alone = silent_.empty();
    const auto until = std::chrono::steady_clock::now() + options_.first_bytes_within;
    const auto who = std::make_shared<visitor>(visitor{std::move(socket), until, {}});
    who->place = silent_.insert(silent_.end(), who);
    who->socket.async_wait(tcp::socket::wait_read, [this, who](error_code) {
      if (who->waits) look_at(*who);
    });
    if (alone) watch();
  }

  void look_at(visitor& who) {
    silent_.erase(who.place);
    who.waits = false;
    std::array<char, 24> bytes;
    const auto n =
        recv(who.socket.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0) return;  // The connection has gone without sending anything.
    if (const auto no =
            find_refusal({bytes.data(), static_cast<std::size_t>(n)}, options_.secure)) {
      return then_.refuse(*no);
    }
    error_code error;
    // gRPC sets this option for connections that it accepts itself. Without it, a write of a few
    // bytes waits for the other side's delayed acknowledgement, 40 ms.
    who.socket.set_option(tcp::no_delay(true), error);
    const int connection = who.socket.release(error);
    if (!error) then_.let_in(connection);
  }

  void turn_away_oldest() {
    error_code ignored;
    silent_.front()->waits = false;
    silent_.front()->socket.close(ignored);
    silent_.pop_front();
    then_.refuse({"silent", "nothing came"});
  }

  /// Closes late connections. All wait for the same time, so the first one is late first.
  void watch() {
    watch_.expires_after(look_every);
    watch_.async_wait([this](error_code error) {
      if (error) return;
      const auto now = std::chrono::steady_clock::now();
      while (!silent_.empty() && silent_.front()->until <= now) turn_away_oldest();
      if (!silent_.empty()) watch();
    });
  }

  const acceptor_options options_;
  const handlers then_;
  asio::io_context io_{1};
  std::list<std::shared_ptr<visitor>> silent_;  ///< Ordered by waiting time, the longest first.
  accept_loop entrance_;
  asio::steady_timer watch_;
  std::uint16_t port_;
  std::thread thread_;
};

acceptor::acceptor(acceptor_options options, handlers then)
    : at_(std::make_unique<port_at>(std::move(options), std::move(then))) {}

acceptor::~acceptor() = default;

std::uint16_t acceptor::port() const { return at_->port(); }

void acceptor::open() { at_->open(); }

}  // namespace troupe::detail
