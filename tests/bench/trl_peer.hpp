#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace troupe {

/// TRL's trainer in a process of its own, which takes a step when it is asked: grpo_trl.py.
class trl_peer {
 public:
  /// Starts it on a model's folder, and waits until it is ready, which takes minutes where its
  /// packages have to be installed.
  explicit trl_peer(const std::filesystem::path& model);
  trl_peer(const trl_peer&) = delete;
  ~trl_peer();

  /// Its packages and their versions; nothing where it can't be had.
  const std::string& name() const { return name_; }
  const std::string& missing() const { return missing_; }

  /// CPU seconds of a step. Throws std::runtime_error if it dies.
  double step();

 private:
  std::string read_line();

  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string name_, missing_;
};

}  // namespace troupe
