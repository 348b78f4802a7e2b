#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::detail {

/// Bytes to write, which stay as they are until the write has ended. The keeper, if there is one,
/// owns them.
struct written_piece {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

/// The stream that carries the frames of a framed_link. At most one read and one write are under
/// way at a time. The link is told of each end by `arrived` and `written`, on the stream's own
/// thread.
class transport {
 public:
  virtual ~transport() = default;
  /// Returns true if the write has ended already, with success; then `written` isn't called. A
  /// write without pieces always ends later. The pieces stay as they are until the write has ended.
  virtual bool write(const std::vector<written_piece>& pieces) = 0;
  virtual void read() = 0;
  /// Returns for how long the other machine has acknowledged nothing, although it has been sent
  /// something; zero if it owes nothing. Called before `cancel`, with locks of the link held.
  virtual std::chrono::milliseconds unacknowledged_for() { return {}; }
  /// Lets reads and writes under way end soon, if need be without success.
  virtual void cancel() = 0;
  /// Ends the stream, then calls framed_link::gone. Called when nothing is under way and nothing
  /// more will be begun.
  virtual void finish() = 0;
};

}  // namespace troupe::detail
