#pragma once
// A disk on which each operation can fail, and whose machine can crash at each of them.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/disk.hpp"

namespace troupe::testing {

/// Everything in a folder, by relative path: the content of a file, or nothing for a folder.
using disk_image = std::map<std::string, std::optional<std::string>>;

/// Writes an image into a folder that exists.
void write_image(const disk_image& image, const std::filesystem::path& folder);

/// Does what it is asked in a real folder, and keeps account of what is on the disk and what is
/// only in memory. Its rules are the weakest that POSIX allows together with ordered names:
///
/// - The bytes of a file are on the disk once it was synced. After a crash the others are whole,
///   torn or missing.
/// - A name in a folder is on the disk once that folder was synced. Of the other changes of names a
///   crash leaves the first ones, however many.
/// - The bytes of a file whose sync has failed never are on the disk.
class simulated_disk final : public detail::disk {
 public:
  /// `root` exists, is empty and is on the disk.
  explicit simulated_disk(std::filesystem::path root);

  /// The operation of that number, from 0, fails with that error.
  void fail_at(int operation, int error);
  /// From that operation on all that need room on the disk fail with that error.
  void fail_from(int operation, int error);
  /// At the operation of that number the machine goes down. Nothing is done any more.
  void crash_at(int operation) { crash_at_ = operation; }
  /// From here on nothing fails.
  void be_well();
  /// Lets the disk be one that can't exchange two names.
  void refuse_exchanges() { exchanges_ = false; }

  int operations() const { return operations_; }
  bool is_down() const { return is_down_; }
  /// What may be on the disk when the machine has come up again after a crash now.
  std::vector<disk_image> images() const;

  // These override disk.
  int create_file(const std::filesystem::path& path) override;
  ssize_t write(int file, std::string_view bytes) override;
  int sync_file(int file) override;
  int sync_folder(const std::filesystem::path& path) override;
  int create_folder(const std::filesystem::path& path) override;
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  int exchange(const std::filesystem::path& one, const std::filesystem::path& other) override;
  int remove(const std::filesystem::path& path) override;

 private:
  struct node;
  using names = std::map<std::string, std::shared_ptr<node>>;
  struct node {
    bool is_folder = false;
    std::string bytes;   ///< In memory.
    std::string synced;  ///< On the disk.
    bool is_lost = false;
    names entries;  ///< In memory.
    names durable;  ///< On the disk.
  };
  /// A change of names in one folder, which happens as a whole. A null node is no entry.
  struct change {
    std::shared_ptr<node> in;
    names to;
  };
  enum class data { missing, torn, whole };

  bool passes(bool needs_room);
  std::shared_ptr<node> folder_of(const std::filesystem::path& path) const;
  std::shared_ptr<node> find(const std::filesystem::path& path) const;
  void put(const std::shared_ptr<node>& in, names to);
  void drop_unreachable();
  disk_image image(std::size_t changes, data which) const;

  const std::filesystem::path root_;
  const std::shared_ptr<node> top_ = std::make_shared<node>();
  std::vector<change> pending_;
  std::map<int, std::shared_ptr<node>> files_;  ///< By descriptor.
  int operations_ = 0;
  int fail_at_ = -1, fail_from_ = -1, crash_at_ = -1;
  int error_ = 0;
  bool exchanges_ = true;
  bool is_down_ = false;
};

}  // namespace troupe::testing
