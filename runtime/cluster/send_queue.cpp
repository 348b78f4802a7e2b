#include "runtime/cluster/send_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe::detail {

void send_queue::push(block message, priority urgency) {
  bytes_ += message.size();
  lanes_[static_cast<std::size_t>(urgency)].push_back(
      {std::make_shared<const block>(std::move(message))});
}

void send_queue::push_note(frame_kind kind, std::string note) {
  notes_.push_back({.kind = kind, .note = std::move(note)});
}

std::vector<outgoing_frame> send_queue::take() {
  std::vector<outgoing_frame> frames(std::make_move_iterator(notes_.begin()),
                                     std::make_move_iterator(notes_.end()));
  notes_.clear();
  auto room = frame_payload_;
  for (const auto urgency : {priority::control, priority::normal}) {
    auto& lane = lanes_[static_cast<std::size_t>(urgency)];
    while (!lane.empty() && room > 0) {
      auto& first = lane.front();
      const auto part = std::min(first.message->size() - first.sent, room);
      frames.push_back({frame_kind::message, urgency, first.message, first.sent, part, {}});
      first.sent += part;
      bytes_ -= part;
      // A message without bytes takes the room of its header.
      room -= std::min(room, std::max(part, frame_header_size));
      if (first.sent == first.message->size()) lane.pop_front();
    }
  }
  return frames;
}

void send_queue::clear() {
  notes_.clear();
  for (auto& lane : lanes_) lane.clear();
  bytes_ = 0;
}

}  // namespace troupe::detail
