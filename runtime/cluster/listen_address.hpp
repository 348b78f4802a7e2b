#pragma once
// The addresses that controllers listen at and nodes join.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <string>

#include "runtime/net/own_hosts.hpp"

namespace troupe::detail {

/// Reads HOST:PORT, or [HOST]:PORT for IPv6. Returns nothing for any other text.
std::optional<host_and_port> parse_host_and_port(const std::string& text);

/// Checks an address without listening there. Throws what listen_for_peers throws for an address
/// that can't be used.
void check_listen_address(const std::string& address, bool secure);

/// Listens at HOST:PORT; port 0 means any free port. Throws std::invalid_argument if the address
/// isn't HOST:PORT, or is beyond this machine although `secure` is false. Throws a
/// std::runtime_error that names the address if it can't listen there.
boost::asio::ip::tcp::acceptor listen_for_peers(boost::asio::io_context& io,
                                                const std::string& address, bool secure);

}  // namespace troupe::detail
