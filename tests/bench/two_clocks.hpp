#pragma once
// Wall time beside the CPU time of several processes, in runs that are repeated.

#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace troupe::detail {

struct cost {
  double wall, cpu;  // seconds
};

inline double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Of this process.
inline double cpu_seconds() { return now(CLOCK_PROCESS_CPUTIME_ID); }

inline double cpu_of(pid_t process) {
  clockid_t clock;
  clock_getcpuclockid(process, &clock);
  return now(clock);
}

/// One of so many times, of this process and those.
template <class F>
cost measure(const std::vector<pid_t>& others, int times, F what) {
  const auto cpu = [&] {
    double sum = cpu_seconds();
    for (const auto process : others) sum += cpu_of(process);
    return sum;
  };
  const double cpu_before = cpu(), before = now(CLOCK_MONOTONIC);
  what();
  const double wall = now(CLOCK_MONOTONIC) - before;
  return {wall / times, (cpu() - cpu_before) / times};
}

/// The runs of one kind.
struct series {
  std::vector<double> wall, cpu;
  void add(cost of) {
    wall.push_back(of.wall);
    cpu.push_back(of.cpu);
  }
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  static double best(const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
  }
};

inline void print_heading(int rounds) {
  std::printf("%d runs                             wall: best     median  CPU: best     median\n",
              rounds);
}

inline void print(const char* what, const series& of, double factor) {
  std::printf("%-34s %10.3f %10.3f %10.3f %10.3f\n", what, series::best(of.wall) * factor,
              series::median(of.wall) * factor, series::best(of.cpu) * factor,
              series::median(of.cpu) * factor);
}

}  // namespace troupe::detail
