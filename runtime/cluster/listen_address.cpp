#include "runtime/cluster/listen_address.hpp"

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <stdexcept>

#include "runtime/net/host_resolver.hpp"
#include "runtime/net/listen.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// The longest wait for the address of a name.
constexpr auto lookup_limit = std::chrono::seconds(10);

tcp::endpoint find_address(const std::string& text) {
  const auto found = parse_host_and_port(text);
  if (!found) throw std::invalid_argument("expected HOST:PORT to listen at, got \"" + text + "\"");
  // The lookup doesn't keep an io_context running, so a timer does.
  asio::io_context io;
  asio::steady_timer deadline(io, lookup_limit);
  error_code error = asio::error::timed_out;
  host_resolver::results endpoints;
  host_resolver resolver(io);
  resolver.async_resolve(found->host, found->port, [&](error_code with, const auto& addresses) {
    error = with;
    endpoints = addresses;
    deadline.cancel();
  });
  deadline.async_wait([&](error_code) { io.stop(); });
  io.run();
  if (error || endpoints.empty()) {
    throw std::runtime_error("cannot listen at " + text + ": " + error.message());
  }
  return endpoints.begin()->endpoint();
}

/// Finds an address that may be listened at.
tcp::endpoint find_permitted(const std::string& address, bool secure) {
  const auto endpoint = find_address(address);
  if (!secure && !is_loopback(endpoint.address().to_string())) {
    throw std::invalid_argument(
        "cannot listen at " + address +
        " without certificates: expected a loopback address such as 127.0.0.1:7777, or --certs "
        "DIR; `troupe certs init` and `troupe certs add` make them");
  }
  return endpoint;
}

}  // namespace

std::optional<host_and_port> parse_host_and_port(const std::string& text) {
  auto found = parse_host(text);
  if (found && found->port.empty()) return {};
  return found;
}

void check_listen_address(const std::string& address, bool secure) {
  find_permitted(address, secure);
}

tcp::acceptor listen_for_peers(asio::io_context& io, const std::string& address, bool secure) {
  const auto endpoint = find_permitted(address, secure);
  error_code error;
  auto acceptor = listen_at(io, endpoint, error);
  if (error) throw std::runtime_error("cannot listen at " + address + ": " + error.message());
  return acceptor;
}

}  // namespace troupe::detail
