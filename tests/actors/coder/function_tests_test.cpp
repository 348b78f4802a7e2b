#include "actors/coder/function_tests.hpp"

#include "actors/coder/coder.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

const tested_function add{"add",
                          {{"[1,2]", "3"}, {"[5,5]", "10"}, {"[-1,1]", "0"}, {"[7,0]", "7"}}};

double share(const std::string& code, const tested_function& what = add) {
  coder runner({.allow_unsandboxed = true, .limits = {.wall_s = 60}});
  return passed_share(runner.run(call_function(code, what)), what);
}

TEST_CASE("function tests: the share of values that are right") {
  CHECK(share("def add(a, b): return a + b") == 1.0);
  CHECK(share("add = lambda a, b: float(a + b)") == 1.0);
  CHECK(share("def add(a, b): return a + b if a != 5 else 0") == 0.75);
  CHECK(share("def add(a, b): return 10 // b + a") == 0.0);
  CHECK(share("def add(a, b):\n  if b == 0: raise ValueError\n  return a + b") == 0.75);
  CHECK(share("def add(a): return a") == 0.0);
  CHECK(share("def ad(a, b): return a + b") == 0.0);
  CHECK(share("def add(a, b: return a + b") == 0.0);
  CHECK(share("") == 0.0);
  CHECK(share("add = 3", {"add", {}}) == 0.0);
}

TEST_CASE("function tests: values are compared as JSON") {
  const tested_function make{"make", {{"[]", R"(["a", [1, true, null]])"}}};
  CHECK(share("def make(): return ('a', (1, True, None))", make) == 1.0);
  CHECK(share("def make(): return ['a', [1, 1, None]]", make) == 0.0);
  const tested_function text{"text", {{R"(["\u00e9"])", R"("\u00e9\u00e9")"}}};
  CHECK(share("def text(t): return t + t", text) == 1.0);
  const tested_function number{"number", {{"[]", "1"}}};
  CHECK(share("def number(): return True", number) == 0.0);
  CHECK(share("def number(): return float('nan')", number) == 0.0);
  CHECK(share("def number(): return 10 ** 5000", number) == 0.0);
  CHECK(share("def number(): return {1, 2}", number) == 0.0);
  CHECK(share("number = lambda: eval('[' * 90 + ']' * 90)", number) == 0.0);
}

TEST_CASE("function tests: what a program says about itself counts for nothing") {
  // Each of them claims to be right, or wants to be let off.
  for (const char* claim :
       {"import sys\nsys.exit(0)", "import os\nos._exit(0)", "print('all tests passed')",
        "import os\ndef add(a, b): os._exit(0)", "import sys\ndef add(a, b): sys.exit(0)",
        "class same(int):\n  def __eq__(s, o): return True\ndef add(a, b): return same(99)",
        "class same:\n  def __eq__(s, o): return True\ndef add(a, b): return same()",
        "import json\njson.dumps = lambda *a, **k: 'passed'\ndef add(a, b): return 0",
        "import os\ndef add(a, b): return 0\nos.write(3, b'[1]\\n[2]\\n[3]\\n[4]\\n')",
        "import os\nfor i in range(100): os.write(3, b'[%d]\\n' % i)\nos._exit(0)",
        "import os\nos.close(3)\ndef add(a, b): return a + b",
        "import builtins\nbuiltins.print = lambda *a, **k: None\ndef add(a, b): return a + b",
        "import os\nos.write(3, b'[3]\\n[10]\\n[0]\\n[7]\\n[7]\\n')\nos._exit(0)",
        "raise BaseException", "def add(a, b): raise KeyboardInterrupt",
        "def add(a, b): yield a + b"}) {
    CAPTURE(claim);
    CHECK(share(claim) == 0.0);
  }
}

TEST_CASE("function tests: values that came before a program's end count") {
  CHECK(share("import os\ndef add(a, b): return a + b if a != -1 else os._exit(0)") == 0.5);
  CHECK(share("def add(a, b): return a + b if a != 7 else print('x' * 10**8)") == 0.75);
}

TEST_CASE("function tests: a program's own output is no value") {
  CHECK(share("print('[0]')\ndef add(a, b):\n  print([1])\n  return a + b") == 1.0);
}

TEST_CASE("function tests: the code in an answer") {
  CHECK(code_in("def f(): pass") == "def f(): pass");
  CHECK(code_in("Here it is:\n```python\ndef f(x):\n    return x\n```\nIt returns x.") ==
        "def f(x):\n    return x\n");
  CHECK(code_in("```\nf(1)\n```\n```py\ndef f(x): return x\n```") == "def f(x): return x\n");
  CHECK(code_in("```\nf = abs\n```\n") == "f = abs\n");
  CHECK(code_in("  ```python\ndef f(x): return x") == "def f(x): return x\n");
  CHECK(code_in("") == "");
  CHECK(code_in("```") == "");
}

TEST_CASE("function tests: arguments that are no list are refused") {
  CHECK_THROWS_WITH(call_function("", {"f", {{"{}", "1"}}}),
                    Catch::Contains("f: expected a list of arguments in JSON, got \"{}\""));
  const auto deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK_THROWS_WITH(call_function("", {"f", {{deep, "1"}}}),
                    Catch::Contains("f: expected a list of arguments in JSON, got \"[[["));
}

}  // namespace
}  // namespace troupe
