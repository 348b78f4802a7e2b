#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe::detail {

/// Listens at an endpoint; what kept it from that is in `error`.
boost::asio::ip::tcp::acceptor listen_at(boost::asio::io_context& io,
                                         const boost::asio::ip::tcp::endpoint& endpoint,
                                         boost::system::error_code& error);

/// Listens at an IPv4 or IPv6 address; port 0 is any free one. Nothing where the port is in use.
/// Throws std::invalid_argument for what is no address, and std::runtime_error for what else keeps
/// it from listening; both name `who`, such as "metrics server".
std::optional<boost::asio::ip::tcp::acceptor> try_listen(boost::asio::io_context& io,
                                                         const std::string& who,
                                                         const std::string& address,
                                                         std::uint16_t port);

/// "metrics server at 0.0.0.0 port 9464"
std::string describe_listener(const std::string& who, const std::string& address,
                              std::uint16_t port);

}  // namespace troupe::detail
