#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cluster/frame.hpp"

namespace troupe::detail {

/// A frame to be written next: a part of a message, or a note with the payload of another kind.
struct outgoing_frame {
  frame_kind kind = frame_kind::message;
  priority lane = priority::normal;
  std::shared_ptr<const block> message;  ///< Set for a message only.
  std::size_t offset = 0;                ///< The position of this part in its message.
  std::size_t size = 0;                  ///< The size of this part.
  std::string note;                      ///< The payload of any other kind.
};

/// The frames that wait to be sent over one link. Notes (pings, pongs, the end) go first, then
/// control messages, then the others. Long messages are cut, so no message waits for the whole of
/// one in another lane. Used by one thread at a time.
class send_queue {
 public:
  explicit send_queue(std::size_t frame_payload) : frame_payload_(frame_payload) {}

  void push(block message, priority urgency);
  void push_note(frame_kind kind, std::string note);
  /// Returns the frames to write at once: at most one frame_payload of messages, and every note.
  std::vector<outgoing_frame> take();
  bool empty() const { return notes_.empty() && lanes_[0].empty() && lanes_[1].empty(); }
  std::size_t notes() const { return notes_.size(); }
  /// The bytes of the waiting messages, whole or what is left of them.
  std::size_t bytes() const { return bytes_; }
  /// The number of the waiting messages.
  std::size_t messages() const { return lanes_[0].size() + lanes_[1].size(); }
  void clear();

 private:
  struct waiting {
    std::shared_ptr<const block> message;
    std::size_t sent = 0;
  };

  std::size_t frame_payload_;
  std::deque<outgoing_frame> notes_;
  std::deque<waiting> lanes_[2];  ///< Indexed by priority.
  std::size_t bytes_ = 0;
};

}  // namespace troupe::detail
