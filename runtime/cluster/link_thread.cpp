#include "runtime/cluster/link_thread.hpp"

#include "runtime/net/io_thread.hpp"

namespace troupe::detail {

boost::asio::io_context& link_context() {
  static io_thread thread("troupe-cluster");
  return thread.context();
}

}  // namespace troupe::detail
