#pragma once
// The TensorBoard events file of a run.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "actors/recorder/file_io.hpp"

namespace troupe {

/// Writes scalars to a TensorBoard events file, `events.out.tfevents.<seconds>.<host>.<pid>.0` in a
/// given folder, as protobuf messages in TFRecord frames. It is not thread-safe.
class tensorboard_writer {
 public:
  using clock = std::chrono::system_clock;

  /// Creates the file and writes its version record. Throws std::system_error.
  tensorboard_writer(const std::filesystem::path& folder, clock::time_point now);

  /// Continues an existing file after its first `size` bytes. Throws std::system_error.
  tensorboard_writer(const std::filesystem::path& file, std::int64_t size)
      : file_(append_file::reopen(file, size)) {}

  /// Writes all `values` as one event at `step` (environment steps). TensorBoard holds scalars in
  /// 32 bits, so each value is rounded to float. Throws std::system_error; the file is then
  /// unchanged.
  void write(std::int64_t step, const std::map<std::string, double>& values, clock::time_point now);

  const std::filesystem::path& path() const { return file_.path(); }
  std::int64_t size() const { return file_.size(); }

 private:
  append_file file_;
};

namespace detail {
/// Returns the CRC-32C of `bytes` (Castagnoli, RFC 3720 appendix B.4).
std::uint32_t crc32c(std::string_view bytes);
/// Returns a TFRecord: the length (u64), its masked checksum (u32), the bytes, and their masked
/// checksum (u32), all little-endian. A checksum is masked by a rotation and a constant, so that
/// checksums over bytes that hold checksums stay effective.
std::string tf_record(std::string_view bytes);
}  // namespace detail
}  // namespace troupe
