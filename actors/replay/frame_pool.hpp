#pragma once
// Frames of bytes, each of which is kept once, however many observations show it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace troupe {

/// A set of frames of equal size with a count of their users. A frame that is equal to one that is
/// held is not kept again. A frame without users is forgotten. Memory is allocated in blocks as it
/// is needed.
class frame_pool {
 public:
  /// The name of a frame, as long as it has users.
  using frame_id = std::uint32_t;
  static constexpr frame_id none = std::numeric_limits<frame_id>::max();

  /// `frame_size` is the number of bytes of a frame, > 0, and `limit` the largest number of
  /// different frames.
  frame_pool(std::size_t frame_size, std::size_t limit);

  /// Adds a user of the frame with these bytes. Returns `none` if the frame is not held and there
  /// is no room for it.
  frame_id acquire(const std::uint8_t* frame);
  /// Removes a user of a frame. REQUIRES: the frame has one.
  void release(frame_id id);
  /// Returns the bytes of a frame. REQUIRES: the frame has a user.
  const std::uint8_t* at(frame_id id) const {
    return blocks_[id / block_frames_].bytes.get() + id % block_frames_ * frame_size_;
  }

  std::size_t frame_size() const noexcept { return frame_size_; }
  std::size_t held() const noexcept { return held_; }  ///< The number of different frames.
  std::size_t limit() const noexcept { return limit_; }
  /// The size in bytes of the allocated memory.
  std::size_t bytes() const noexcept;
  /// The largest number of bytes that a frame of that size takes.
  static constexpr std::size_t bytes_of_frame(std::size_t frame_size) {
    return frame_size + sizeof(entry) + 2 * sizeof(frame_id);
  }

 private:
  /// What is known of a frame. `next` links the frames of a bucket, or the free ids.
  struct entry {
    std::uint32_t users, hash;
    frame_id next;
  };
  /// The frames are no vector, so that pages that were not written to yet take no memory.
  struct block {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::unique_ptr<entry[]> entries;
  };

  entry& entry_of(frame_id id) { return blocks_[id / block_frames_].entries[id % block_frames_]; }
  frame_id& bucket_of(std::uint32_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  frame_id unused_id();
  void add_buckets();

  std::size_t frame_size_, limit_, block_frames_;
  std::vector<block> blocks_;
  std::vector<frame_id> buckets_;  ///< The first frame of each bucket; a power of two of them.
  std::size_t made_ = 0;           ///< The number of ids that were ever in use.
  std::size_t held_ = 0;
  frame_id free_ = none;  ///< The first id that is in use no more.
};

}  // namespace troupe
