#include "runtime/cluster/listen_address.hpp"

#include <stdexcept>

#include "runtime/net/listen.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint find_address(asio::io_context& io, const std::string& text) {
  const auto found = parse_host_and_port(text);
  if (!found) throw std::invalid_argument("expected HOST:PORT to listen at, got \"" + text + "\"");
  error_code error;
  tcp::resolver resolver(io);
  const auto endpoints = resolver.resolve(found->host, found->port, tcp::resolver::passive, error);
  if (error || endpoints.empty()) {
    throw std::runtime_error("cannot listen at " + text + ": " + error.message());
  }
  return endpoints.begin()->endpoint();
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

}  // namespace

std::optional<host_and_port> parse_host_and_port(const std::string& text) {
  auto found = parse_host(text);
  if (found && found->port.empty()) return {};
  return found;
}

void check_listen_address(const std::string& address, bool secure) {
  asio::io_context io;
  find_permitted(io, address, secure);
}

tcp::acceptor listen_for_peers(asio::io_context& io, const std::string& address, bool secure) {
  const auto endpoint = find_permitted(io, address, secure);
  error_code error;
  auto acceptor = listen_at(io, endpoint, error);
  if (error) throw std::runtime_error("cannot listen at " + address + ": " + error.message());
  return acceptor;
}

}  // namespace troupe::detail
