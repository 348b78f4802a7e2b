#pragma once
// The limits of a program that is not trusted, and what its run came to.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A Python program to run, and its input.
struct code_request {
  std::string program = {};                       ///< the text, less than 128 KiB, in UTF-8
  std::string input = {};                         ///< the program's standard input
  std::map<std::string, std::string> files = {};  ///< what its folder holds, by name
  std::vector<std::string> results = {};          ///< names of files to return from its folder
};

/// A command to run, and its input. A name of a file is a path below the command's folder.
struct command_request {
  std::vector<std::string> command = {};          ///< the program and its arguments
  std::string input = {};                         ///< the command's standard input
  std::map<std::string, std::string> files = {};  ///< what its folder holds, by name
  std::vector<std::string> results = {};          ///< names of files to return from its folder
};

/// The limits of one run.
struct code_limits {
  double wall_s = 5.0;  ///< wall time in seconds, after which everything in the run is killed
  int cpu_s = 5;        ///< CPU time in seconds of each process
  /// The memory of all processes of a run and of the files that they write, together. Without a
  /// control group each process has an equal part of it as its address space.
  std::int64_t memory_bytes = std::int64_t{512} << 20;
  int processes = 1;                                    ///< processes and threads at the same time
  int open_files = 64;                                  ///< open descriptors of each process
  std::int64_t written_bytes = std::int64_t{32} << 20;  ///< the size of all files together
  std::int64_t files = 1024;                            ///< the number of files and folders
  /// The size of the output, of the errors and of the report, each. It is also the size of all
  /// files that are returned, together.
  std::int64_t output_bytes = 64 << 10;
};

/// A limit that a run has hit.
enum class code_limit {
  none,
  wall_time,      ///< wall_s: the run was killed
  cpu_time,       ///< cpu_s: the process was killed
  memory,         ///< memory_bytes: an allocation failed
  processes,      ///< processes: a process or a thread could not be started
  open_files,     ///< open_files: a file could not be opened
  written_bytes,  ///< written_bytes: a write failed
  files,          ///< files: a file could not be made
  output_bytes    ///< output_bytes: the run was killed, or a returned file was cut
};

/// The name of a limit, as in code_limits; "" for none.
std::string_view name_of(code_limit limit);
/// The limit of that name; none for any other text.
code_limit limit_named(std::string_view name);

/// The end of a run, and what it wrote.
struct code_result {
  int exit_code = 0;  ///< the exit code, if the program exited
  int signal = 0;     ///< the signal that ended the program, or 0
  /// The limit that was hit; the first of them if there were several. A program that deals with the
  /// failure itself has hit none.
  code_limit limit = code_limit::none;
  std::string output;      ///< the bytes of its standard output
  std::string errors;      ///< the bytes of its standard error
  std::string reported;    ///< the bytes that it wrote to descriptor 3, for a program's results
  bool truncated = false;  ///< true if there was more of one of the three
  std::map<std::string, std::string> files;  ///< those of the named files that there were
  double wall_s = 0.0;                       ///< from its start to its end, in seconds
  double cpu_s = 0.0;                        ///< the CPU time of its processes in seconds
  std::int64_t memory_bytes = 0;             ///< the most resident memory of one of its processes

  bool succeeded() const { return limit == code_limit::none && signal == 0 && exit_code == 0; }
};

/// True if RLIMIT_CPU ended the program. The kernel counts it in ticks, so that the CPU time may be
/// shorter.
bool is_end_of_cpu_time(const code_result& result, const code_limits& limits);

}  // namespace troupe
