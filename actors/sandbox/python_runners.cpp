#include "actors/sandbox/python_runners.hpp"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace troupe {

namespace {

constexpr std::size_t program_bytes_max = (128 << 10) - 1;

/// Names the limit that an error means; see code_limit.
constexpr const char* limits = R"py(
def limit_of(error):
    import errno, os
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, BlockingIOError) or "can't start new thread" in str(error):
        return "processes"
    full = "written_bytes" if os.statvfs("/tmp").f_ffree else "files"
    number = error.errno if isinstance(error, OSError) else None
    return {errno.EMFILE: "open_files", errno.EFBIG: "written_bytes", errno.ENOSPC: full}.get(number, "")
)py";

}  // namespace

// The program is executed as the main module, in which nothing of this is left.
const char* const one_program = R"py(
def run(limit_of):
    import os, sys
    os.write(6, b"ready\n")
    if not os.read(4, 1):
        os._exit(1)
    os.close(4)
    main = sys.modules["__main__"].__dict__
    del main["run"], main["limit_of"]
    try:
        with open(5, encoding="utf-8") as file:
            program = file.read()
        exec(compile(program, "<program>", "exec"), main)
    except SystemExit:
        raise
    except BaseException as error:
        os.write(6, limit_of(error).encode())
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)

run(limit_of)
)py";

// A request is the number of its bytes, a line, and JSON. The answer is a line of JSON.
const char* const notebook = R"py(
def run(limit_of):
    import io, json, os, resource, sys, time
    main = sys.modules["__main__"].__dict__
    del main["run"], main["limit_of"]
    requests, answers = open(4, "rb"), open(6, "w")
    os.write(6, b"ready\n")
    while size := requests.readline():
        asked = json.loads(requests.read(int(size)))
        sys.stdin = io.StringIO(asked["input"])
        before, limit, code = time.process_time(), "", 0
        try:
            exec(compile(asked["program"], "<cell>", "exec"), main)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException as error:
            limit, code = limit_of(error), 1
            error = error.with_traceback(error.__traceback__.tb_next)
            sys.excepthook(type(error), error, error.__traceback__)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        answers.write(json.dumps({"limit": limit, "exit_code": code & 255, "cpu_s": time.process_time() - before, "memory_bytes": used}) + "\n")
        answers.flush()

run(limit_of)
)py";

std::vector<std::string> python_command(const std::string& python, const char* runner) {
  if (::access(python.c_str(), X_OK) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "sandbox: expected a Python interpreter at " + python);
  // Isolated, without packages that are installed on this machine, and without files of bytecode.
  return {python, "-I", "-S", "-B", "-c", std::string(limits) + runner};
}

void check_program(const std::string& program) {
  if (program.size() > program_bytes_max || program.find('\0') != std::string::npos)
    throw std::invalid_argument("sandbox: expected a program of at most " +
                                std::to_string(program_bytes_max) + " bytes, none of them 0, got " +
                                std::to_string(program.size()));
}

}  // namespace troupe
