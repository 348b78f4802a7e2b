#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cluster/frame.hpp"

namespace troupe::detail {

/// A frame that is to be written next: a part of a message, or the payload of another kind.
struct outgoing_frame {
  frame_kind kind = frame_kind::message;
  priority lane = priority::normal;
  std::shared_ptr<const block> message;  ///< Of a message alone.
  std::size_t offset = 0;                ///< Of this part in its message.
  std::size_t size = 0;                  ///< Of this part.
  std::string note;                      ///< Of any other kind.
};

/// What waits to be sent over one link: notes (pings, pongs, the end) before control messages,
/// those before the others. Long messages are cut, so none waits for the whole of another lane's.
/// For one thread at a time.
class send_queue {
 public:
  explicit send_queue(std::size_t frame_payload) : frame_payload_(frame_payload) {}

  void push(block message, priority urgency);
  void push_note(frame_kind kind, std::string note);
  /// Frames to write at once: at most one frame_payload of messages, and every note.
  std::vector<outgoing_frame> take();
  bool empty() const { return notes_.empty() && lanes_[0].empty() && lanes_[1].empty(); }
  std::size_t notes() const { return notes_.size(); }
  /// Of the messages, whole or what is left of them.
  std::size_t bytes() const { return bytes_; }
  void clear();

 private:
  struct waiting {
    std::shared_ptr<const block> message;
    std::size_t sent = 0;
  };

  std::size_t frame_payload_;
  std::deque<outgoing_frame> notes_;
  std::deque<waiting> lanes_[2];  ///< By priority.
  std::size_t bytes_ = 0;
};

}  // namespace troupe::detail
