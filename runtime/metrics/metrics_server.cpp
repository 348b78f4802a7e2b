#include "runtime/metrics/metrics_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "runtime/base/hexadecimal.hpp"
#include "runtime/base/quiet_thread.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/usable_descriptors.hpp"
#include "runtime/metrics/metrics_connection.hpp"
#include "runtime/metrics/metrics_place.hpp"
#include "runtime/net/accept_loop.hpp"
#include "runtime/net/listen.hpp"

namespace troupe {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

const std::string server_name = "metrics server";

/// So many connections may be open where the process may open few descriptors: a page that is
/// shown, a scraper and probes.
constexpr std::size_t connections_least = 4;

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
      : options_(std::move(options)),
        connections_max_(detail::bounded_connections(
            options_.connections_max, detail::usable_descriptors(), connections_least)),
        hosts_(options_.address, options_.allowed_hosts, "--metrics-allow-host"),
        sources_{registry, options_, detail::hexadecimal(detail::random_bits())},
        scrapes_(registry, io_),
        entrance_(io_, listen(io_, options_),
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
  std::string page() const {
    return "http://localhost:" + std::to_string(port_) + "/?token=" + sources_.token;
  }

 private:
  void admit(tcp::socket socket) {
    if (table_.open.size() >= connections_max_) table_.evict_one();
    std::make_shared<detail::metrics_connection>(std::move(socket), table_)->start();
  }

  const metrics_server_options options_;
  const std::size_t connections_max_;
  const detail::own_hosts hosts_;
  const detail::answer_sources sources_;
  detail::metrics_connections table_{options_, hosts_, sources_, scrapes_};
  // The io_context comes after the table, so that its connections end first. The scrapes hold
  // connections, too, and their thread uses the io_context.
  asio::io_context io_{1};
  detail::scraper scrapes_;
  detail::accept_loop entrance_;
  std::uint16_t port_;
  std::thread thread_;
};

metrics_server::metrics_server(const metrics_registry& registry, metrics_server_options options) try
    : listener_(std::make_unique<listener>(registry, std::move(options))) {
} catch (const std::invalid_argument& e) {
  throw metrics_place_error(e.what());
}

metrics_server::~metrics_server() = default;

std::uint16_t metrics_server::port() const { return listener_->port(); }
std::string metrics_server::page() const { return listener_->page(); }

}  // namespace troupe
