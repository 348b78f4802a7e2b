#include "runtime/cluster/framed_link.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "runtime/base/utf8.hpp"

namespace troupe::detail {

namespace {

/// The largest payload that is copied beside its header; longer ones are written from their own
/// memory.
constexpr std::size_t copied_max = 4096;
/// The number of waiting notes above which no pings or pongs are added, because the other side
/// doesn't read.
constexpr std::size_t notes_max = 64;
constexpr std::size_t end_note_max = 1000;
/// The time in which the other side must end the stream after it has been told the end.
constexpr std::chrono::milliseconds end_within(1000);

std::span<const std::byte> payload_of(const outgoing_frame& frame) {
  if (frame.message) return frame.message->bytes().subspan(frame.offset, frame.size);
  return std::as_bytes(std::span(frame.note));
}

std::string note_of(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace

framed_link::framed_link(const link_options& options, const incarnation& own,
                         const incarnation& other, std::shared_ptr<transport> stream)
    : options_(options),
      own_(own),
      stream_(std::move(stream)),
      reader_(other, options.message_bytes_max, memory_),
      queue_(std::min(options.frame_payload, frame_payload_max)),
      heartbeat_(options.ping_every, options.lost_after) {}

// ---- for the owner ------------------------------------------------------------------------------

void framed_link::open(std::shared_ptr<link_listener> listener) {
  lock held(mutex_);
  if (listener_) throw std::logic_error("framed_link: opened twice");
  listener_ = std::move(listener);
  read_next_ = true;
  say_events(held);
}

void framed_link::send(block message, priority urgency) {
  if (message.size() > options_.message_bytes_max) {
    throw std::length_error("link: a message of " + std::to_string(message.size()) +
                            " bytes: expected at most " +
                            std::to_string(options_.message_bytes_max));
  }
  lock held(mutex_);
  if (ended_ || closing_) return;
  queue_.push(std::move(message), urgency);
  if (queue_.bytes() > options_.queue_bytes_max) was_full_ = true;
  if (queue_.bytes() > 2 * options_.queue_bytes_max + options_.message_bytes_max) {
    end(held, "more than twice the bound of " + std::to_string(options_.queue_bytes_max) +
                  " bytes waits to be sent");
    return;
  }
  if (queue_.messages() > waiting_blocks_max) {
    end(held, "more than " + std::to_string(waiting_blocks_max) + " messages wait to be sent");
    return;
  }
  write_next(held);
}

void framed_link::resume() {
  lock held(mutex_);
  say_events(held);
}

bool framed_link::full() const {
  lock held(mutex_);
  return queue_.bytes() > options_.queue_bytes_max;
}

void framed_link::close(const std::string& why) {
  lock held(mutex_);
  if (ended_ || closing_) return;
  // Nobody reads, so nobody would notice that the other side has ended the stream.
  if (!listener_) return end(held, why);
  closing_ = true;
  why_ = why;
  queue_.clear();
  queue_.push_note(frame_kind::end, why.substr(0, end_note_max));
  write_next(held);
}

void framed_link::abandon(const std::string& why) {
  lock held(mutex_);
  end(held, why);
}

bool framed_link::has_ended() const {
  lock held(mutex_);
  return ended_ || closing_;
}

void framed_link::tick(std::chrono::steady_clock::time_point now) {
  lock held(mutex_);
  if (ended_) return;
  if (closing_) {
    if (!closing_since_) closing_since_ = now;
    if (now - *closing_since_ >= end_within) end(held, why_);
    return;
  }
  if (!listener_) return;
  // While nothing is read nothing is heard, but the kernels of both machines go on.
  const bool answers = !reading_ && stream_->unacknowledged_for() < link_tick;
  const bool heard = std::exchange(heard_, false) || answers;
  switch (heartbeat_.look(now, heard)) {
    case heartbeat::due::nothing:
      break;
    case heartbeat::due::lost:
      end(held, std::string("nothing was ") + (reading_ ? "heard" : "acknowledged") + " for " +
                    std::to_string(options_.lost_after.count()) + " ms");
      break;
    case heartbeat::due::ping:
      if (queue_.notes() < notes_max) queue_.push_note(frame_kind::ping, note_of(0));
      write_next(held);
      break;
  }
}

// ---- for the transport --------------------------------------------------------------------------

void framed_link::arrived(std::span<const std::byte> bytes) {
  std::string fault;
  try {
    if (!reader_.read(bytes, *this)) fault = reader_.fault();
  } catch (const std::bad_alloc&) {
    fault = "no memory for a message that comes";
  }
  lock held(mutex_);
  reading_ = false;
  heard_ = true;
  if (closing_ || ended_) {
    batch_.clear();
  } else {
    std::swap(batch_, received_);
  }
  if (!fault.empty()) {
    end(held, fault);
  } else if (!end_told_.empty()) {
    end(held, end_told_);
  } else {
    read_next_ = true;
  }
  say_events(held);
  finish_if_idle(held);
}

void framed_link::read_failed() {
  lock held(mutex_);
  reading_ = false;
  end(held, "");
  finish_if_idle(held);
}

void framed_link::broken() {
  lock held(mutex_);
  end(held, "");
}

void framed_link::written(bool ok) {
  pieces_.clear();
  lock held(mutex_);
  writing_ = false;
  if (ok) {
    write_next(held);
  } else {
    end(held, "");
  }
  say_events(held);
  finish_if_idle(held);
}

void framed_link::gone(const std::string& why) {
  lock held(mutex_);
  gone_ = true;
  if (why_.empty()) why_ = why.empty() ? "the stream ended" : why;
  say_events(held);
  const auto action = std::exchange(when_gone_, nullptr);
  held.unlock();
  if (action) action();
}

// ---- the reader's -------------------------------------------------------------------------------

void framed_link::ping_read(std::uint64_t number) {
  lock held(mutex_);
  if (ended_ || closing_ || queue_.notes() >= notes_max) return;
  queue_.push_note(frame_kind::pong, note_of(number));
  write_next(held);
}

void framed_link::end_read(std::string why) {
  end_told_ =
      "the other side closed the link" + (why.empty() ? why : ": " + printable(why, end_note_max));
}

// ---- the writer's -------------------------------------------------------------------------------

/// Begins a write if none is under way. Releases the lock meanwhile.
void framed_link::write_next(lock& held) {
  if (writing_ || ended_ || queue_.empty()) return;
  auto frames = queue_.take();
  if (was_full_ && queue_.bytes() <= options_.queue_bytes_max) {
    was_full_ = false;
    writable_ = true;
  }
  writing_ = true;
  held.unlock();
  const bool ended_at_once = write(std::move(frames));
  held.lock();
  if (!ended_at_once) return;
  if (!queue_.empty() || writable_) {
    // The transport's thread goes on, because the sender must not write what others send meanwhile,
    // and must not tell the listener anything.
    held.unlock();
    stream_->write({});
    held.lock();
    return;
  }
  writing_ = false;
  finish_if_idle(held);
}

bool framed_link::write(std::vector<outgoing_frame> frames) {
  std::size_t staged = 0;
  for (const auto& frame : frames) {
    const auto size = payload_of(frame).size();
    staged += frame_header_size + (size <= copied_max ? size : 0);
  }
  staging_.resize(staged);
  pieces_.clear();
  std::byte* at = staging_.data();
  for (auto& frame : frames) {
    const auto payload = payload_of(frame);
    write_header({.kind = frame.kind,
                  .lane = frame.lane,
                  .sequence = next_sequence_++,
                  .sender = own_,
                  .message_size = frame.message ? frame.message->size() : 0},
                 payload, at);
    const bool copied = payload.size() <= copied_max;
    const auto size = frame_header_size + (copied ? payload.size() : 0);
    if (copied && !payload.empty()) {
      std::memcpy(at + frame_header_size, payload.data(), payload.size());
    }
    if (!pieces_.empty() && !pieces_.back().keeper) {
      pieces_.back().bytes = {pieces_.back().bytes.data(), pieces_.back().bytes.size() + size};
    } else {
      pieces_.push_back({{at, size}, nullptr});
    }
    at += size;
    if (!copied) pieces_.push_back({payload, std::move(frame.message)});
  }
  const bool ended_at_once = stream_->write(pieces_);
  if (ended_at_once) pieces_.clear();
  return ended_at_once;
}

// ---- ends and events ----------------------------------------------------------------------------

void framed_link::end(lock& held, const std::string& why) {
  if (ended_) return;
  ended_ = true;
  if (why_.empty()) why_ = why;
  queue_.clear();
  held.unlock();
  stream_->cancel();
  held.lock();
  cancelled_ = true;
  finish_if_idle(held);
}

void framed_link::finish_if_idle(lock& held) {
  if (!cancelled_ || finished_ || writing_ || reading_) return;
  finished_ = true;
  held.unlock();
  stream_->finish();
  held.lock();
}

/// Tells the listener the events that it has not been told, one after another, whichever thread
/// found them.
void framed_link::say_events(lock& held) {
  if (saying_ || !listener_) return;
  saying_ = true;
  const auto listener = listener_;
  const auto unlocked = [&](auto&& say) {
    held.unlock();
    say();
    held.lock();
  };
  for (;;) {
    const bool reads = read_next_ && !ended_ && listener->has_room();
    if (!received_.empty() || reads) {
      auto batch = std::exchange(received_, {});
      if (reads) {
        read_next_ = false;
        reading_ = true;
      }
      unlocked([&] {
        for (auto& message : batch) listener->received(std::move(message));
        if (reads) stream_->read();
      });
    } else if (writable_ && !ended_) {
      writable_ = false;
      unlocked([&] { listener->writable(); });
    } else if (gone_) {
      // Nothing comes after this event, so saying_ stays true.
      unlocked([&] { listener->closed(why_); });
      listener_ = nullptr;
      return;
    } else {
      break;
    }
  }
  saying_ = false;
}

}  // namespace troupe::detail
