#pragma once
// Text worlds in Python: each has a Python process of its own (python_worker.hpp).
//
//   class GuessNumber:                       # my_worlds:GuessNumber
//       def reset(self, seed):
//           self.secret = random.Random(seed).randint(1, 9)
//           return "A number from 1 to 9?"
//
//       def step(self, reply):               # (text, reward, terminated, truncated, info)
//           if not reply.strip().isdigit():
//               return "", 0, False, False, {"refused": "expected a number"}
//           right = int(reply) == self.secret
//           return "Right." if right else "Wrong.", float(right), right, False, {}
//
// skyrl:ID is an environment of the package skyrl-gym, which gets the line of a dataset.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/python/python_options.hpp"
#include "actors/text/text_environment.hpp"

namespace troupe {

struct python_text_options {
  std::string world;           ///< "module:Class" or "skyrl:ID".
  std::string options = "{}";  ///< The keyword arguments of the class, a JSON object.
  double timeout = 60;         ///< The seconds that a reset or a step may take.
  python_options python = {};  ///< The interpreter, start_timeout and the limit of memory.
};

/// True for a name of the form module:Class or skyrl:ID.
bool names_python_text(std::string_view world);

/// Returns the maker of such worlds. Making one starts a process and imports the class, and throws
/// python_error. A process that ends, or does not answer in time, ends the episode with
/// python_ended, and the next reset starts another. Calls block the thread.
text_environment_maker python_text_environments(python_text_options options);

/// Returns the made-up conversations of a world that has the method `practise`, as
/// text_environment_spec::practise does; null if the world has none. Starts a process, which lives
/// as long as the function, and throws python_error. Calls block the thread, and throw python_error
/// and python_ended.
///
///       def practise(self, seed):            # a list of (shown, said)
///           return [("A number from 1 to 9?", str(random.Random(seed).randint(1, 9)))]
std::function<std::vector<dialogue_turn>(action_random& random)> python_practice(
    python_text_options options);

}  // namespace troupe
