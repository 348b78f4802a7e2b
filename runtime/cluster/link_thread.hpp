#pragma once
// The thread that reads, writes and waits for every link to another machine.

#include <boost/asio/io_context.hpp>

namespace troupe::detail {

/// Returns the context of the one thread of this process that runs what sockets of links wait for.
/// What runs there must not wait.
boost::asio::io_context& link_context();

}  // namespace troupe::detail
