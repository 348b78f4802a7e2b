#include "runtime/cluster/socket_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe::detail {

namespace {

/// Removes the first `count` bytes.
void drop_first(socket_stream::buffers& from, std::size_t count) {
  auto whole = from.begin();
  while (whole != from.end() && whole->size() <= count) {
    count -= whole->size();
    ++whole;
  }
  from.erase(from.begin(), whole);
  if (!from.empty()) from.front() += count;
}

}  // namespace

socket_stream::sent socket_stream::send_now(buffers& left) {
  std::array<iovec, 64> parts;
  while (!left.empty()) {
    const auto count = std::min(left.size(), parts.size());
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {.iov_base = const_cast<void*>(left[i].data()), .iov_len = left[i].size()};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const auto n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? sent::some : sent::failed;
    drop_first(left, static_cast<std::size_t>(n));
  }
  return sent::all;
}

std::chrono::milliseconds socket_stream::unacknowledged_for() {
  tcp_info state{};
  socklen_t size = sizeof state;
  if (::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &state, &size) != 0) return {};
  // While the other side reads nothing, the kernel sends it probes instead of data.
  const bool owes = state.tcpi_unacked > 0 || state.tcpi_probes > 0;
  return std::chrono::milliseconds(owes ? state.tcpi_last_ack_recv : 0);
}

}  // namespace troupe::detail
