#include "runtime/metrics/metrics_server.hpp"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

#include "runtime/metrics/connection.hpp"
#include "runtime/metrics/listen.hpp"

namespace troupe {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr unsigned next_ports_max = 100;
constexpr auto accept_pause = std::chrono::milliseconds(100);

const std::string server_name = "metrics server";

tcp::acceptor listen(asio::io_context& io, const metrics_server_options& options) {
  const unsigned last = options.port + (options.next_free && options.port ? next_ports_max : 0);
  for (unsigned port = options.port; port <= std::min(last, 65535u); ++port) {
    auto found =
        detail::try_listen(io, server_name, options.address, static_cast<std::uint16_t>(port));
    if (found) return std::move(*found);
  }
  throw port_busy(options.address, options.port);
}

}  // namespace

port_busy::port_busy(const std::string& address, std::uint16_t port)
    : std::runtime_error(detail::describe_listener(server_name, address, port) +
                         ": the port is in use"),
      port_(port) {}

class metrics_server::listener {
 public:
  listener(const metrics_registry& registry, metrics_server_options options)
      : table_{registry, std::move(options)},
        acceptor_(listen(io_, table_.options)),
        pause_(io_),
        port_(acceptor_.local_endpoint().port()) {
    accept();
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~listener() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return retry();
      admit(std::move(socket));
      accept();
    });
  }

  /// No descriptor is free: some will be.
  void retry() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  void admit(tcp::socket socket) {
    if (table_.open >= table_.options.connections_max) {
      if (table_.yielding.empty()) return;  // closes it
      table_.yielding.front()->evict();
    }
    std::make_shared<detail::connection>(std::move(socket), table_)->start();
  }

  detail::connection_table table_;
  asio::io_context io_{1};  // after the table, so that its connections end first
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::uint16_t port_;
  std::thread thread_;
};

metrics_server::metrics_server(const metrics_registry& registry, metrics_server_options options)
    : listener_(std::make_unique<listener>(registry, std::move(options))) {}

metrics_server::~metrics_server() = default;

std::uint16_t metrics_server::port() const { return listener_->port(); }

}  // namespace troupe
