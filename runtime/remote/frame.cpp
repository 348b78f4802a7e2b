#include "runtime/remote/frame.hpp"

namespace troupe::detail {

frame::frame(block bytes) : bytes_(std::move(bytes)) {
  if (bytes_.size() < sizeof(frame_header)) {
    throw wire_error("a frame of " + std::to_string(bytes_.size()) + " bytes: expected at least " +
                     std::to_string(sizeof(frame_header)));
  }
  std::memcpy(&header, bytes_.data(), sizeof(header));
  if (header.version != frame_header::current) {
    throw wire_error("a frame of version " + std::to_string(header.version) + ": expected " +
                     std::to_string(frame_header::current));
  }
  if (header.kind > frame_kind::closed || header.control > 1) {
    throw wire_error("a frame of kind " + std::to_string(static_cast<int>(header.kind)) +
                     ": there is none");
  }
}

}  // namespace troupe::detail
