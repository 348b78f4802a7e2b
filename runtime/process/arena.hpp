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

/// Memory that two processes see: a memfd, sparse, whose size no process can change (sealed). One
/// half for the blocks that the parent sends, one for the child's. Each half begins with a table,
/// one byte a page: the receiver of a block sets the byte of its first page to give it back. All
/// else that is known of a half is known to the sender alone, so a peer that lies can spoil
/// bytes, and only bytes.
class shared_memory {
 public:
  static constexpr std::size_t page = 4096;

  /// Makes it; `half` is rounded up to pages.
  explicit shared_memory(std::size_t half);
  /// Inherited: throws std::runtime_error if it is none of ours.
  explicit shared_memory(descriptor inherited);
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;

  /// For the child to inherit; the mapping needs none.
  descriptor take_descriptor() { return std::move(memory_); }
  std::size_t half() const { return half_; }
  std::byte* base(bool parents) const { return base_ + (parents ? 0 : half_); }

 private:
  void map();

  descriptor memory_;
  std::size_t half_ = 0;
  std::byte* base_ = nullptr;
};

/// The sender's view of its half. Any thread.
class outbound_arena final : public block::keeper,
                             public std::enable_shared_from_this<outbound_arena> {
 public:
  outbound_arena(std::shared_ptr<shared_memory> memory, bool parents);

  /// Nothing if there is no room.
  std::optional<block> allocate(std::size_t size);
  /// Where a block that was allocated here is; `message` is empty then, and its memory the
  /// receiver's until that gives it back. Nothing for other memory.
  std::optional<std::uint64_t> hand_over(block& message);
  /// Bytes of the blocks that are not given back.
  std::size_t used();
  /// Bytes from the beginning on that may hold memory of the system's.
  std::size_t touched();
  /// Gives the system back some of what is above `kept` and no block has reached since the last
  /// time.
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
  std::map<std::size_t, range> taken_;       // by offset
  std::map<std::size_t, std::size_t> free_;  // offset -> size; no two are neighbours
  std::size_t touched_ = 0;
  std::size_t reached_ = 0;  // since the last trim
};

/// The receiver's view of the other's half.
class inbound_arena final : public block::keeper,
                            public std::enable_shared_from_this<inbound_arena> {
 public:
  inbound_arena(std::shared_ptr<shared_memory> memory, bool parents);

  /// Nothing if the peer lies about it. The bytes can change while they are read if the peer is
  /// broken.
  std::optional<block> at(std::uint64_t offset, std::uint64_t size);

  void give_back(std::byte* data, std::size_t size) noexcept override;

 private:
  const std::shared_ptr<shared_memory> memory_;
  std::byte* const base_;
};

}  // namespace troupe::detail
