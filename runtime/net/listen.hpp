#pragma once
// Opens listening TCP sockets, for the metrics server and other servers.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe::detail {

/// Listens at an endpoint. If it fails, `error` says why.
boost::asio::ip::tcp::acceptor listen_at(boost::asio::io_context& io,
                                         const boost::asio::ip::tcp::endpoint& endpoint,
                                         boost::system::error_code& error);

/// Listens at an IPv4 or IPv6 address; port 0 means any free port. Returns nullopt if the port is
/// in use. Throws std::invalid_argument if the address is malformed, and std::runtime_error for any
/// other failure; both messages name `who`, such as "metrics server".
std::optional<boost::asio::ip::tcp::acceptor> try_listen(boost::asio::io_context& io,
                                                         const std::string& who,
                                                         const std::string& address,
                                                         std::uint16_t port);

/// Returns a description for messages: "metrics server at 0.0.0.0 port 9464".
std::string describe_listener(const std::string& who, const std::string& address,
                              std::uint16_t port);

}  // namespace troupe::detail
