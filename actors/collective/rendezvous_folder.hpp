#pragma once
// A temporary folder for the rendezvous of ranks.

#include <filesystem>
#include <string>

namespace troupe {

/// A folder in the system's folder for temporary files, in which the ranks of one group find each
/// other. The destructor removes it with its content.
class rendezvous_folder {
 public:
  /// Throws std::filesystem::filesystem_error if it can't be made.
  rendezvous_folder();
  ~rendezvous_folder();
  rendezvous_folder(const rendezvous_folder&) = delete;
  rendezvous_folder& operator=(const rendezvous_folder&) = delete;

  /// The file for gloo_rendezvous.
  std::string file() const { return (path_ / "group").string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace troupe
