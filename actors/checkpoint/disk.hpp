#pragma once
// The changes of files and folders that have to survive a crash of the machine, as system calls.
// Tests put another disk in their place, on which each of them can fail.

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace troupe::detail {

/// Each function returns what its system call returns, and sets errno where that is -1.
class disk {
 public:
  virtual ~disk() = default;

  /// Creates a file, or empties it. Returns a descriptor for writing.
  virtual int create_file(const std::filesystem::path& path);
  virtual ssize_t write(int file, std::string_view bytes);
  /// Returns once the bytes of the file are on the disk.
  virtual int sync_file(int file);
  /// Returns once the folder's list of names is on the disk.
  virtual int sync_folder(const std::filesystem::path& path);
  virtual int create_folder(const std::filesystem::path& path);
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  /// Exchanges two names at once.
  virtual int exchange(const std::filesystem::path& one, const std::filesystem::path& other);
  /// Removes a file or an empty folder.
  virtual int remove(const std::filesystem::path& path);

  /// The disk that is written to.
  static disk& current();
  /// Has everything written to another disk as long as the object lives. For tests: no other thread
  /// may write meanwhile.
  class replacement {
   public:
    explicit replacement(disk& by);
    replacement(const replacement&) = delete;
    ~replacement();

   private:
    disk* before_;
  };
};

}  // namespace troupe::detail
