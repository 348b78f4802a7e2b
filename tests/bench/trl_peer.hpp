#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/bench/grpo_batch.hpp"

namespace troupe {

/// What a step of TRL's took, and what it did.
struct trl_step {
  double cpu_s = 0;
  std::int64_t prompt_tokens = 0;    ///< each prompt once
  std::int64_t answer_tokens = 0;    ///< of all answers
  std::int64_t computed_tokens = 0;  ///< that went through the model with a gradient
};

/// TRL's trainer in a process of its own, which takes a step when it is asked: grpo_trl.py.
class trl_peer {
 public:
  /// Starts it on a model's folder, for steps of this shape, and waits until it is ready, which
  /// takes minutes where its packages have to be installed.
  trl_peer(const std::filesystem::path& model, const grpo_batch::shape& shape);
  trl_peer(const trl_peer&) = delete;
  ~trl_peer();

  /// Its packages and their versions; nothing where it can't be had.
  const std::string& name() const { return name_; }
  const std::string& missing() const { return missing_; }

  /// Throws std::runtime_error if it dies.
  trl_step step();

 private:
  std::string read_line();

  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string name_, missing_;
};

}  // namespace troupe
