#include "runtime/remote/message.hpp"

namespace troupe::detail {

message::message(block bytes) : bytes_(std::move(bytes)) {
  if (bytes_.size() < sizeof(message_header)) {
    throw wire_error("a message of " + std::to_string(bytes_.size()) +
                     " bytes: expected at least " + std::to_string(sizeof(message_header)));
  }
  std::memcpy(&header, bytes_.data(), sizeof(header));
  if (header.protocol != message_header::current) {
    throw wire_error("a message of version " + std::to_string(header.protocol) + ": expected " +
                     std::to_string(message_header::current));
  }
  if (header.kind > message_kind::measured || header.control > 1) {
    throw wire_error("a message of kind " + std::to_string(static_cast<int>(header.kind)) +
                     ": there is none");
  }
}

}  // namespace troupe::detail
