#include "runtime/net/listen.hpp"

#include <stdexcept>

namespace troupe::detail {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::acceptor listen_at(asio::io_context& io, const tcp::endpoint& endpoint, error_code& error) {
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  return acceptor;
}

std::optional<tcp::acceptor> try_listen(asio::io_context& io, const std::string& who,
                                        const std::string& address, std::uint16_t port) {
  error_code error;
  const auto read = asio::ip::make_address(address, error);
  if (error) throw std::invalid_argument(who + ": expected an IP address, got \"" + address + "\"");
  auto acceptor = listen_at(io, {read, port}, error);
  if (error == asio::error::address_in_use) return {};
  if (error)
    throw std::runtime_error(describe_listener(who, address, port) + ": " + error.message());
  return acceptor;
}

std::string describe_listener(const std::string& who, const std::string& address,
                              std::uint16_t port) {
  return who + " at " + address + " port " + std::to_string(port);
}

}  // namespace troupe::detail
