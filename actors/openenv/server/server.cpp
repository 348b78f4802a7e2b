#include "actors/openenv/server/server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <thread>
#include <vector>

#include "actors/openenv/server/http_connection.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/quiet_thread.hpp"
#include "runtime/net/accept_loop.hpp"
#include "runtime/net/listen.hpp"

namespace troupe::openenv_server {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

const std::string server_name = "OpenEnv server";
constexpr auto drain_close_time =
    std::chrono::seconds(6);  // the time for closing the last sessions
/// The largest number of connections that are being refused. They end within a second; more are
/// closed without an answer.
constexpr std::size_t refusals_max = 256;
constexpr auto log_interval = std::chrono::seconds(10);  // between two lines about a full server

/// Returns the time between two checks of all connections, which is short enough for the shortest
/// limit.
milliseconds round_time(const server_options& options) {
  const auto shortest = std::min(
      {options.silence_timeout, options.request_timeout, options.write_timeout,
       options.ping_interval, options.ping_timeout, options.idle_timeout, options.hang_timeout});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(500));
}

void check(const server_options& options) {
  const auto expect = [](const char* name, bool held) {
    if (!held) throw std::invalid_argument(server_name + ": expected " + name + " > 0, got none");
  };
  expect("sessions_max", options.sessions_max > 0);
  expect("connections_max", options.connections_max > 0);
  expect("threads", options.threads > 0);
  expect("message_bytes_max", options.message_bytes_max > 0);
  const auto least = least_budget(options.message_bytes_max);
  if (options.memory_bytes_max < least) {
    throw std::invalid_argument(server_name +
                                ": expected memory_bytes_max >= " + std::to_string(least) +
                                " for messages of " + std::to_string(options.message_bytes_max) +
                                " bytes, got " + std::to_string(options.memory_bytes_max));
  }
  for (const auto time :
       {options.silence_timeout, options.request_timeout, options.write_timeout,
        options.ping_interval, options.ping_timeout, options.idle_timeout, options.hang_timeout})
    expect("times", time.count() > 0);
}

tcp::acceptor listen(asio::io_context& io, const server_options& options) {
  check(options);
  auto found = troupe::detail::try_listen(io, server_name, options.address, options.port);
  if (found) return std::move(*found);
  throw std::runtime_error(
      troupe::detail::describe_listener(server_name, options.address, options.port) +
      ": the port is in use");
}

}  // namespace

class server::house {
 public:
  house(environment_maker make, server_options options, metrics_registry& metrics)
      : hub_(std::move(make), std::move(options), metrics),
        entrance_(hub_.io, listen(hub_.io, hub_.options),
                  [this](tcp_socket socket) { admit(std::move(socket)); }),
        round_(hub_.io),
        port_(entrance_.port()) {
    entrance_.accept();
    look_round();
    thread_ = troupe::detail::quiet_thread([this] { hub_.io.run(); });
  }

  ~house() {
    hub_.io.stop();
    thread_.join();
    hub_.end_workers();
  }

  std::uint16_t port() const { return port_; }
  bool is_draining() const { return is_draining_; }

  void drain(milliseconds grace) {
    is_draining_ = true;
    asio::post(hub_.io, [this, grace] {
      hub_.is_draining = true;
      drain_end_ = steady::now() + grace;
    });
    drained_.get_future().wait();
  }

 private:
  void admit(tcp_socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (has_room())
      std::make_shared<http_connection>(hub_, std::move(socket), hub_.connections)->start();
    else
      refuse(std::move(socket));
  }

  /// Returns whether one more connection may wait, and drops one that has sent no whole request for
  /// it if necessary.
  bool has_room() {
    if (hub_.connections < hub_.options.connections_max) return true;
    const auto waiting = std::ranges::find_if(hub_.guests, &guest::awaits_client);
    if (waiting == hub_.guests.end()) return false;
    (*waiting)->send_away();
    hub_.metrics.silent_dropped.increment();
    return true;
  }

  void refuse(tcp_socket socket) {
    hub_.metrics.connections_refused.increment();
    if (const auto now = steady::now(); now >= next_log_) {
      next_log_ = now + log_interval;
      log::warn("the OpenEnv server has too many connections without a session; it refuses more",
                {{"connections_max", hub_.options.connections_max}, {"sessions", hub_.sessions}});
    }
    if (hub_.refusals >= refusals_max) return;  // this closes the socket
    std::make_shared<http_connection>(hub_, std::move(socket), hub_.refusals)->refuse();
  }

  void look_round() {
    const auto now = steady::now();
    const std::vector<guest*> all(hub_.guests.begin(), hub_.guests.end());  // none ends in the loop
    for (auto* each : all) each->look_after(now);
    hub_.named.look_after(now, hub_.is_draining);
    hub_.metrics.slow.set(hub_.steps.is_fast() ? 0 : 1);
    hub_.metrics.hanging.set(static_cast<double>(hub_.workers->replace_hung(now)));
    if (hub_.is_draining) go_on_draining(now, all);
    round_.expires_after(round_time(hub_.options));
    round_.async_wait([this](error_code error) {
      if (!error) look_round();
    });
  }

  void go_on_draining(steady::time_point now, const std::vector<guest*>& all) {
    if (is_drained_) return;
    if (now >= drain_end_)
      for (auto* each : all) each->send_away();
    const bool is_over = hub_.sessions == 0 || now >= drain_end_ + drain_close_time;
    if (!is_over) return;
    is_drained_ = true;
    drained_.set_value();
  }

  hub hub_;
  troupe::detail::accept_loop entrance_;
  asio::steady_timer round_;
  std::uint16_t port_;
  std::atomic<bool> is_draining_{false};
  bool is_drained_ = false;
  steady::time_point next_log_ = steady::time_point::min();
  steady::time_point drain_end_ = steady::time_point::max();
  std::promise<void> drained_;
  std::thread thread_;
};

server::server(environment_maker make, server_options options, metrics_registry& metrics)
    : house_(std::make_unique<house>(std::move(make), std::move(options), metrics)) {}

server::~server() = default;

std::uint16_t server::port() const { return house_->port(); }
bool server::is_draining() const { return house_->is_draining(); }
void server::drain(std::chrono::milliseconds grace) { house_->drain(grace); }

}  // namespace troupe::openenv_server
