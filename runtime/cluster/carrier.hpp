#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::detail {

/// Bytes to be written. Without a keeper they are copied before `write` returns.
struct written_piece {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

/// What carries the frames of a framed_link: a stream with one read and one write under way at a
/// time, neither of which ends before the call that begins it has returned. The link is told of
/// each end: `arrived`, `written`.
class carrier {
 public:
  virtual ~carrier() = default;
  virtual void write(const std::vector<written_piece>& pieces) = 0;
  virtual void read() = 0;
  /// What is under way ends soon, unsuccessfully if need be.
  virtual void cancel() = 0;
  /// Nothing is under way, and nothing more will be begun: ends the stream, then calls
  /// framed_link::gone.
  virtual void finish() = 0;
};

}  // namespace troupe::detail
