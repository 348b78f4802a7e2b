#include "runtime/process/socket_link.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace troupe::detail {

namespace {

constexpr std::uint32_t reads = EPOLLIN;
constexpr int reads_a_turn = 32;  // The reads in one turn, after which other links have their turn.

/// Thrown for input that the other side can't have sent properly; the text says what.
struct malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const char* what, std::uint64_t got) {
  if (!holds) {
    throw malformed("the other side sent " + std::string(what) + " (" + std::to_string(got) + ")");
  }
}

}  // namespace

socket_link::socket_link(descriptor socket, std::shared_ptr<shared_memory> memory, bool parents,
                         link_ending at_end)
    : loop_(io_loop()),
      memory_(std::move(memory)),
      outbound_(std::make_shared<outbound_arena>(memory_, parents)),
      inbound_(std::make_shared<inbound_arena>(memory_, !parents)),
      at_end_(std::move(at_end)),
      socket_(std::move(socket)) {}

// ---- from beginning to end

void socket_link::open(std::shared_ptr<link_listener> listener) {
  {
    std::lock_guard lock(mutex_);
    if (opened_) throw std::logic_error("link: opened twice");
    opened_ = true;
  }
  loop_.post(
      [self = shared_from_this(), listener = std::move(listener)] { self->begin(listener); });
}

void socket_link::begin(std::shared_ptr<link_listener> listener) {
  if (ended_) return listener->closed(why_);
  listener_ = std::move(listener);
  try {
    std::lock_guard lock(mutex_);
    watched_ =
        loop_.watch(socket_.number(), reads | (waits_for_room_ ? EPOLLOUT : 0), shared_from_this());
    paused_ = false;
  } catch (const std::system_error& e) {
    end(e.what());
  }
}

void socket_link::close(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (closing_.exchange(true)) return;
  stop_sending();
  loop_.post([self = shared_from_this(), why] { self->end(why); });
}

void socket_link::no_more(const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (socket_) ::shutdown(socket_.number(), SHUT_RDWR);
  }
  loop_.post([self = shared_from_this(), reason] {
    self->reason_ = reason;
    if (self->awaits_reason_) self->gone(reason);
  });
}

void socket_link::end(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  why_ = why;
  {
    std::lock_guard lock(mutex_);
    stop_sending();
    if (watched_) loop_.forget(std::exchange(watched_, 0));
    socket_ = descriptor();
  }
  for (auto& message : partial_) message.reset();
  if (const auto listener = std::exchange(listener_, nullptr)) listener->closed(why);
}

void socket_link::ready(std::uint32_t events) {
  if (events & EPOLLOUT) write_more();
  if (ended_ || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  try {
    // Once the other side has gone, what it sent before is in the socket's small buffer.
    read(events & (EPOLLHUP | EPOLLERR));
  } catch (const malformed& e) {
    gone(e.what());
  } catch (const std::bad_alloc&) {
    gone("no memory for a message of the other side");
  }
}

// ---- sending

block socket_link::allocate(std::size_t size) {
  if (size >= shared_from) {
    if (auto shared = outbound_->allocate(size)) {
      trim_later();
      return std::move(*shared);
    }
  }
  return block(size);
}

void socket_link::trim_later() {
  if (outbound_->touched() <= outbound_arena::kept || trims_.exchange(true)) return;
  loop_.post_after(trim_every, [link = weak_from_this()] {
    const auto self = link.lock();
    if (!self) return;
    self->outbound_->trim();
    self->trims_ = false;
    self->trim_later();
  });
}

void socket_link::send(block message, priority urgency) {
  if (message.size() > max_message) {
    throw std::length_error("a message of " + std::to_string(message.size()) +
                            " bytes: expected at most " + std::to_string(max_message));
  }
  const std::size_t line = urgency == priority::control;
  outgoing next;
  next.header.line = static_cast<std::uint8_t>(line);
  next.header.total = message.size();
  std::lock_guard lock(mutex_);
  if (!sending_) return;
  if (const auto offset = outbound_->hand_over(message)) {
    next.header.what = socket_header::kind::shared;
    next.header.offset = *offset;
  } else {
    next.message = std::move(message);
  }
  queued_ += sizeof next + next.message.size();
  if (queued_ > queue_bound) full_ = true;
  lines_[line].push_back(std::move(next));
  if (queued_ > 2 * queue_bound + max_message) {
    return overflow("more than twice the bound of " + std::to_string(queue_bound) + " bytes waits");
  }
  if (lines_[0].size() + lines_[1].size() > waiting_blocks_max) {
    return overflow("more than " + std::to_string(waiting_blocks_max) + " messages wait");
  }
  if (!waits_for_room_) flush();
}

/// Ends the link as if the other side had gone, because it doesn't read.
void socket_link::overflow(const std::string& why) {
  stop_sending();
  loop_.post([self = shared_from_this(), why] { self->gone(why + " to be sent"); });
}

void socket_link::flush() {
  for (std::size_t written = 0; written < burst_max;) {
    const auto line = under_way_ != none ? under_way_ : lines_[1].empty() ? 0 : 1;
    if (lines_[line].empty()) return wait_for_room(false);
    auto& next = lines_[line].front();
    const auto count = write_some(next);
    if (count == 0) break;
    written += count;
    under_way_ = next.frame_left > 0 ? line : none;
    if (next.frame_left == 0 && next.sent == next.message.size()) {
      queued_ -= sizeof next;
      lines_[line].pop_front();
    }
  }
  wait_for_room(sending_);
}

/// Writes a part of a frame, which begins if none is under way. Returns 0 if the socket takes no
/// more.
std::size_t socket_link::write_some(outgoing& next) {
  constexpr auto header_size = sizeof(socket_header);
  auto& header = next.header;
  if (next.frame_left == 0) {
    header.length =
        static_cast<std::uint32_t>(std::min(piece_max, next.message.size() - next.sent));
    next.frame_left = header_size + header.length;
  }
  const auto of_piece = std::min<std::size_t>(next.frame_left, header.length);
  const auto of_header = next.frame_left - of_piece;
  iovec parts[] = {{reinterpret_cast<std::byte*>(&header) + header_size - of_header, of_header},
                   {next.message.data() + next.sent, of_piece}};
  msghdr what{};
  what.msg_iov = parts;
  what.msg_iovlen = 2;
  ssize_t sent;
  while ((sent = ::sendmsg(socket_.number(), &what, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) stop_sending();  // The loop will read the end.
    return 0;
  }
  const auto count = static_cast<std::size_t>(sent);
  const auto of_message = count - std::min(count, of_header);
  next.frame_left -= count;
  next.sent += of_message;
  queued_ -= of_message;
  return count;
}

void socket_link::wait_for_room(bool wanted) {
  if (std::exchange(waits_for_room_, wanted) != wanted) watch();
}

/// Has the loop report what the link waits for. Requires mutex_.
void socket_link::watch() {
  if (!watched_) return;
  loop_.change(watched_, (paused_ ? 0 : reads) | (waits_for_room_ ? EPOLLOUT : 0));
}

void socket_link::stop_sending() {
  sending_ = false;
  for (auto& line : lines_) line.clear();
  under_way_ = none;
  queued_ = 0;
  wait_for_room(false);
}

void socket_link::write_more() {
  bool room = false;
  {
    std::lock_guard lock(mutex_);
    if (sending_) flush();
    room = sending_ && queued_ < queue_bound / 2 && full_.exchange(false);
  }
  if (room && listener_) listener_->writable();
}

// ---- receiving

void socket_link::resume() {
  std::lock_guard lock(mutex_);
  if (std::exchange(paused_, false)) watch();
}

/// Stops to read where the listener has no room, until `resume`.
bool socket_link::pauses() {
  if (!listener_ || listener_->has_room()) return false;
  std::lock_guard lock(mutex_);
  if (listener_->has_room()) return false;  // It may have got room before the lock was taken.
  if (!std::exchange(paused_, true)) watch();
  return true;
}

void socket_link::read(bool to_the_end) {
  for (int i = 0; i < reads_a_turn; ++i) {
    if (!to_the_end && pauses()) return;
    iovec parts[2];
    msghdr where{};
    where.msg_iov = parts;
    // The bytes of a piece go straight to its message, and the next header behind them is staged.
    auto staged_max = staging_.size() - staged_end_;
    if (piece_left_ > 0) {
      auto& to = *partial_[reading_];
      parts[where.msg_iovlen++] = {to.message.data() + to.filled, piece_left_};
      if (to.filled + piece_left_ < to.message.size()) staged_max = sizeof(socket_header);
    }
    parts[where.msg_iovlen++] = {staging_.data() + staged_end_, staged_max};
    const auto wanted = piece_left_ + staged_max;
    const auto got = ::recvmsg(socket_.number(), &where, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (got <= 0) return end_of_file();
    const auto of_piece = std::min(static_cast<std::size_t>(got), piece_left_);
    staged_end_ += static_cast<std::size_t>(got) - of_piece;
    if (of_piece > 0) took(of_piece);
    parse();
    if (static_cast<std::size_t>(got) < wanted) return;
  }
}

void socket_link::end_of_file() {
  if (!reason_.empty()) return gone(reason_);
  if (at_end_.reason_within.count() == 0) return gone(at_end_.why);
  awaits_reason_ = true;
  {
    std::lock_guard lock(mutex_);
    stop_sending();
    loop_.forget(std::exchange(watched_, 0));
  }
  loop_.post_after(at_end_.reason_within, [link = weak_from_this()] {
    if (const auto self = link.lock()) self->gone(self->at_end_.why);
  });
}

void socket_link::gone(const std::string& why) {
  if (ended_) return;
  end(why);
  if (at_end_.after) at_end_.after();
}

/// Uses up the staged bytes, except for a part of a header.
void socket_link::parse() {
  for (;;) {
    const auto staged = staged_end_ - staged_begin_;
    const auto* from = staging_.data() + staged_begin_;
    if (piece_left_ > 0) {
      const auto count = std::min(staged, piece_left_);
      if (count == 0) break;
      auto& to = *partial_[reading_];
      std::memcpy(to.message.data() + to.filled, from, count);
      staged_begin_ += count;
      took(count);
    } else {
      socket_header header;
      if (staged < sizeof header) break;
      std::memcpy(&header, from, sizeof header);
      staged_begin_ += sizeof header;
      begin_frame(header);
    }
  }
  std::memmove(staging_.data(), staging_.data() + staged_begin_, staged_end_ - staged_begin_);
  staged_end_ -= std::exchange(staged_begin_, 0);
}

void socket_link::begin_frame(const socket_header& header) {
  expect(header.mark == socket_header::magic && header.unused == 0, "no frame", header.mark);
  expect(header.line < 2, "a frame on no line", header.line);
  expect(header.total <= max_message, "a message that is too long", header.total);
  if (header.what == socket_header::kind::piece) return begin_piece(header);
  expect(header.what == socket_header::kind::shared, "a frame of no kind",
         static_cast<std::uint8_t>(header.what));
  expect(!partial_[header.line], "a block within a message", header.line);
  auto found = inbound_->at(header.offset, header.total);
  expect(header.length == 0 && found, "a block where none can be", header.offset);
  deliver(std::move(*found));
}

void socket_link::begin_piece(const socket_header& header) {
  auto& to = partial_[header.line];
  if (!to) to = incoming{block(header.total)};
  expect(header.offset == 0, "a piece with an offset", header.offset);
  expect(header.total == to->message.size(), "a message of two lengths", header.total);
  expect(header.length <= std::min(piece_max, to->message.size() - to->filled),
         "a piece that is too long", header.length);
  expect(header.length > 0 || header.total == 0, "an empty piece", header.length);
  reading_ = header.line;
  piece_left_ = header.length;
  if (piece_left_ == 0) took(0);
}

void socket_link::took(std::size_t count) {
  auto& to = partial_[reading_];
  to->filled += count;
  piece_left_ -= count;
  if (to->filled < to->message.size()) return;
  auto whole = std::move(to->message);
  to.reset();
  deliver(std::move(whole));
}

void socket_link::deliver(block message) {
  if (!closing_) listener_->received(std::move(message));
}

}  // namespace troupe::detail
