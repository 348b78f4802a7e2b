#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/base/descriptor.hpp"
#include "runtime/wire/block.hpp"

namespace troupe::detail {

/// Memory that two processes share: a sparse memfd whose size no process can change (it is sealed).
/// One half holds the blocks that the parent sends, the other half those of the child. Each half
/// begins with a table of one byte per page: the receiver of a block sets the byte of its first
/// page to give the block back. Only the sender keeps any other record of its half, so a
/// misbehaving peer can spoil the bytes of blocks and nothing else.
class shared_memory {
 public:
  static constexpr std::size_t page = 4096;

  /// Makes the memory. `half` is rounded up to pages.
  explicit shared_memory(std::size_t half);
  /// Maps inherited memory. Throws std::runtime_error if the descriptor isn't such a memory.
  explicit shared_memory(descriptor inherited);
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;

  /// Gives the descriptor to the child. The mapping doesn't need it.
  descriptor take_descriptor() { return std::move(memory_); }
  std::size_t half() const { return half_; }
  std::byte* base(bool parents) const { return base_ + (parents ? 0 : half_); }

 private:
  void map();

  descriptor memory_;
  std::size_t half_ = 0;
  std::byte* base_ = nullptr;
};

/// The sender's view of its half. May be used on any thread.
class outbound_arena final : public block::keeper,
                             public std::enable_shared_from_this<outbound_arena> {
 public:
  outbound_arena(std::shared_ptr<shared_memory> memory, bool parents);

  /// Returns a block, or nothing if there is no room.
  std::optional<block> allocate(std::size_t size);
  /// Returns the offset of a block that was allocated here, or nothing for other memory. `message`
  /// is empty afterwards, and its memory belongs to the receiver until the receiver gives it back.
  std::optional<std::uint64_t> hand_over(block& message);
  /// The number of bytes in blocks that have not been given back.
  std::size_t used();
  /// The number of bytes from the beginning that may be backed by memory of the system.
  std::size_t touched();
  /// Gives memory above `kept` bytes back to the system in steps, if no block has reached it since
  /// the last call.
  void trim();

  static constexpr std::size_t kept = 8 << 20;

  void give_back(std::byte* data, std::size_t size) noexcept override;

 private:
  struct range {
    std::size_t size;
    bool handed_over;
  };
  void reclaim();
  void release(std::map<std::size_t, range>::iterator at);

  const std::shared_ptr<shared_memory> memory_;
  std::byte* const base_;
  std::mutex mutex_;
  std::map<std::size_t, range> taken_;       // Keyed by offset.
  std::map<std::size_t, std::size_t> free_;  // The size by offset. No two ranges are neighbours.
  std::size_t touched_ = 0;
  std::size_t reached_ = 0;  // The end of the highest block since the last trim.
};

/// The receiver's view of the other side's half.
class inbound_arena final : public block::keeper,
                            public std::enable_shared_from_this<inbound_arena> {
 public:
  inbound_arena(std::shared_ptr<shared_memory> memory, bool parents);

  /// Returns the block at an offset, or nothing if the peer's values are impossible. The bytes can
  /// change while they are read if the peer is broken.
  std::optional<block> at(std::uint64_t offset, std::uint64_t size);

  void give_back(std::byte* data, std::size_t size) noexcept override;

 private:
  const std::shared_ptr<shared_memory> memory_;
  std::byte* const base_;
};

}  // namespace troupe::detail
