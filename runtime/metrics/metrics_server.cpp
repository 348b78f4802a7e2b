#include "runtime/metrics/metrics_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "runtime/base/quiet_thread.hpp"
#include "runtime/metrics/metrics_connection.hpp"
#include "runtime/metrics/metrics_place.hpp"
#include "runtime/net/accept_loop.hpp"
#include "runtime/net/listen.hpp"

namespace troupe {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

const std::string server_name = "metrics server";

tcp::acceptor listen(asio::io_context& io, const metrics_server_options& options) {
  const bool tries_more = options.next_free && options.port != 0;
  const unsigned last = options.port + (tries_more ? metrics_place::next_ports_max : 0);
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
        entrance_(io_, listen(io_, table_.options),
                  [this](detail::accept_loop::socket socket) { admit(std::move(socket)); }),
        port_(entrance_.port()) {
    entrance_.accept();
    thread_ = detail::quiet_thread([this] { io_.run(); });
  }

  ~listener() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }

 private:
  void admit(tcp::socket socket) {
    if (table_.open >= table_.options.connections_max) {
      if (table_.yielding.empty()) return;  // The socket's destructor closes the new connection.
      table_.yielding.front()->evict();
    }
    std::make_shared<detail::metrics_connection>(std::move(socket), table_)->start();
  }

  detail::metrics_connections table_;
  // The io_context comes after the table, so that its connections end first.
  asio::io_context io_{1};
  detail::accept_loop entrance_;
  std::uint16_t port_;
  std::thread thread_;
};

metrics_server::metrics_server(const metrics_registry& registry, metrics_server_options options)
    : listener_(std::make_unique<listener>(registry, std::move(options))) {}

metrics_server::~metrics_server() = default;

std::uint16_t metrics_server::port() const { return listener_->port(); }

}  // namespace troupe
