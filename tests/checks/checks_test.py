#!/usr/bin/python3
"""Each check and tests/run.py, given planted violations: checks_test.py BUILD_DIR"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import run as runner  # noqa: E402


def plant(root, files):
    for name, text in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def run(script, *arguments, jobs=2, **environment):
    environment = {"TROUPE_TEST_SECONDS": "2", "TROUPE_TEST_JOBS": str(jobs), **environment}
    return subprocess.run([sys.executable, str(script), *map(str, arguments)], text=True,
                          capture_output=True, check=False,
                          env={name: value for name, value in {**os.environ, **environment}.items() if value})


class CheckCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def check(self, name, files):
        plant(self.root, files)
        return run(HERE / name, self.root)

    def assert_refused(self, name, files, *parts):
        result = self.check(name, files)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stdout)

    def assert_accepted(self, name, files):
        result = self.check(name, files)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Messages(CheckCase):
    def test_a_message_names_its_thing(self):
        throw = 'void f(int n) {{ throw std::invalid_argument({}); }}\n'
        for text in ('"expected 1 to 9, got " + std::to_string(n)', 'fmt::format(\n      "expected 1 to 9, got {}", n)',
                     'std::string("expected ") + what'):
            with self.subTest(text=text):
                self.assert_refused("messages.py", {"actors/a.cpp": throw.format(text)},
                                    "actors/a.cpp:1: the message names no thing")
        self.assert_accepted("messages.py", {"actors/a.cpp": throw.format('"size: expected 1 to 9"'),
                                             "actors/worlds/check_world.cpp": throw.format('"expected one"')})


class Definitions(CheckCase):
    def test_names_that_differ_or_stay_in_their_file_are_accepted(self):
        self.assert_accepted("definitions.py", {
            "runtime/a.hpp": "namespace troupe::detail { class a; struct a : b<int> { class in {}; }; }\n",
            "runtime/b.hpp": "namespace troupe { class a final {}; struct b { struct in {}; }; }\n",
            "runtime/c.hpp": "namespace troupe { template <> struct codec<a> {}; class a::in {}; }\n",
            "runtime/d.hpp": "namespace troupe { template <> struct codec<b> {}; class b::in {}; }\n",
            "actors/a.cpp": "namespace troupe { namespace { struct a {}; } void f() { struct b {}; } }\n",
            "tests/a_test.cpp": "namespace troupe { struct a {}; }\n"})

    def test_a_name_with_two_classes_is_refused(self):
        first = "namespace troupe::detail {\nclass a final : public std::enable_shared_from_this<a> {};\n}\n"
        for second in ["namespace troupe { namespace detail {\nstruct a {}; } }\n",
                       "namespace troupe::detail {\nenum class a : char { b };\n}\n"]:
            with self.subTest(second=second):
                self.assert_refused("definitions.py", {"runtime/a.hpp": first, "actors/b.hpp": second},
                                    "runtime/a.hpp:2: troupe::detail::a is defined at actors/b.hpp:2, too")


class JsonMembers(CheckCase):
    def test_a_read_that_throws_or_was_asked_for_is_accepted(self):
        self.assert_accepted("json_members.py", {"tests/a.cpp": """\
            void f(const std::string& text) {
              const auto told = json::parse(text);
              use(told.at("a").at("b"), told.value("c", 1), told.contains("d") ? told["d"] : json(), untold["e"]);
            }
            void g(const std::string& text) {
              auto told = json::parse(text);
              told["a"] = 1;
              other.told["b"] = "const auto made = json::parse(text); made[";
            }
            """})

    def test_a_read_of_a_member_that_may_be_missing_is_refused(self):
        for declared in ("const auto told = json::parse(text)", "const nlohmann::ordered_json told = parse_json(text)",
                         "const json told{nlohmann::json::parse(text)}"):
            for read in ('told["a"]', 'told.at("b")["a"]', '!told.contains("b") && told["a"]'):
                with self.subTest(declared=declared, read=read):
                    self.assert_refused("json_members.py", {"actors/a.cpp": f"{declared};\nuse({read});\n"},
                                        'actors/a.cpp:2: told["a"]: expected told.at("a")')


class Layering(CheckCase):
    def test_an_include_that_points_left_is_accepted(self):
        self.assert_accepted("layering.py", {
            "runtime/a.hpp": "#include <caf/fwd.hpp>\n",
            "actors/b.hpp": '#include "runtime/a.hpp"\n#include <ATen/core/Tensor.h>\n',
            "actors/torch/torch.hpp": "#include <torch/types.h>\n",
            "actors/b.cpp": '#include "actors/torch/torch.hpp"\n',
            "examples/c.cpp": '#include "algorithms/on_policy/ppo/ppo.hpp"\n',
            "tests/runtime/d.cpp": '#include "deploy/x.hpp"\n#include <caf/all.hpp>\n'})

    def test_what_breaks_the_layers_is_refused(self):
        for path, included in [
                ("runtime/a.hpp", '"actors/b.hpp"'), ("actors/a.cpp", '"algorithms/b.hpp"'),
                ("algorithms/a.cpp", '"examples/b.hpp"'), ("algorithms/a.cpp", '"tests/test.hpp"'),
                ("runtime/a.cpp", "<torch/types.h>"), ("runtime/a.cpp", "<ATen/core/Tensor.h>"),
                ("runtime/a.cpp", '"actors/torch/torch.hpp"'), ("actors/environments/a.cpp", "<ATen/ATen.h>"),
                ("actors/a.hpp", "<torch/types.h>"), ("actors/a.cpp", "<torch/torch.h>"), ("tests/a.cpp", "<torch/torch.h>"), ("actors/a.hpp", '"actors/torch/torch.hpp"'),
                ("actors/a.cpp", "<caf/all.hpp>"), ("examples/a.cpp", "<caf/actor.hpp>")]:
            with self.subTest(path=path, included=included):
                self.assert_refused("layering.py", {path: f"// first\n  # include {included}\n"},
                                    f"{path}:2: includes {included[1:-1]}")
                (self.root / path).unlink()


class Floors(CheckCase):
    FILES = {
        "tests/checks/floors.txt": "# bottom to top\nruntime/base runtime/wire\n\nruntime  # the service\n"
                                   "runtime/service/call\nactors\n",
        "runtime/base/a.hpp": "",
        "runtime/wire/b.cpp": '#include "runtime/wire/b.hpp"\n#include <vector>\n',
        "runtime/wire/b.hpp": "",
        "runtime/c.hpp": '#include "runtime/base/a.hpp"\n',
        "runtime/service/call/d.cpp": '#include "runtime/c.hpp"\n#include "runtime/wire/b.hpp"\n',
        "actors/e.hpp": '#include "runtime/c.hpp"\n',
        "examples/f.cpp": '#include "actors/e.hpp"\n',
    }

    def test_includes_that_go_down_are_accepted(self):
        self.assert_accepted("floors.py", self.FILES)

    def test_includes_that_go_up_or_stay_on_a_floor_are_refused(self):
        for path, included, reason in [
                ("runtime/base/a.hpp", "runtime/c.hpp",
                 "runtime/base (floor 1) may not see runtime (floor 2)"),
                ("runtime/c.hpp", "runtime/service/call/d.hpp",
                 "runtime (floor 2) may not see runtime/service/call (floor 3)"),
                ("runtime/base/a.hpp", "runtime/wire/b.hpp",
                 "runtime/base (floor 1) may not see runtime/wire (floor 1)")]:
            with self.subTest(path=path, included=included):
                self.assert_refused("floors.py", {**self.FILES, path: f'// first\n#include "{included}"\n'},
                                    f"{path}:2: includes {included}: {reason}\n")

    def test_the_shortest_circle_is_told_with_its_includes(self):
        self.assert_refused(
            "floors.py",
            {**self.FILES,
             "runtime/base/a.hpp": '\n#include "runtime/service/call/d.hpp"\n',
             "runtime/c.hpp": '#include "runtime/base/a.hpp"\n#include "runtime/wire/b.hpp"\n',
             "runtime/wire/b.hpp": '#include "runtime/c.hpp"\n#include "runtime/c.hpp"\n'},
            "runtime, runtime/base, runtime/service/call, runtime/wire: include each other in a circle; the shortest:\n"
            "  runtime/c.hpp:2: includes runtime/wire/b.hpp\n"
            "  runtime/wire/b.hpp:1: includes runtime/c.hpp (and 1 more from runtime/wire to runtime)\n")

    def test_two_circles_are_told_each(self):
        self.assert_refused(
            "floors.py",
            {**self.FILES, "runtime/base/a.hpp": '#include "runtime/wire/b.hpp"\n',
             "runtime/wire/b.hpp": '#include "runtime/base/a.hpp"\n',
             "actors/e.hpp": '#include "actors/g/g.hpp"\n', "actors/g/g.hpp": '#include "actors/e.hpp"\n'},
            "runtime/base, runtime/wire: include each other", "actors, actors/g: include each other")

    def test_folders_and_floors_that_do_not_match_are_refused(self):
        for changed, part in [
                ({"tests/checks/floors.txt": "runtime/base runtime/wire\nruntime runtime/gone\nruntime/service/call\nactors\n"},
                 "tests/checks/floors.txt:2: runtime/gone does not exist or holds no C++ file"),
                ({"tests/checks/floors.txt": "runtime/base\nruntime runtime/wire\nruntime/service/call runtime/base\nactors\n"},
                 "tests/checks/floors.txt:3: runtime/base stands on floor 1 already"),
                ({"tests/checks/floors.txt": "runtime/base runtime/wire actors\nruntime\nruntime/service/call\n"},
                 "tests/checks/floors.txt:1: actors and runtime share a floor"),
                ({"runtime/wire/inner/g.hpp": ""},
                 "runtime/wire/inner: tests/checks/floors.txt does not say on which floor it stands")]:
            with self.subTest(part=part):
                self.assert_refused("floors.py", {**self.FILES, **changed}, part)

    def test_a_missing_declaration_is_refused(self):
        self.assert_refused("floors.py", {"runtime/base/a.hpp": ""}, "tests/checks/floors.txt: is missing")


class Coroutines(CheckCase):
    def judge(self, statement):
        return {"actors/a.cpp": "task<> f(int n) {\n  int x = 0;\n" + statement + "\n}\n"}

    def test_an_await_that_stands_alone_is_accepted(self):
        for statement in [
                "co_await g();", "auto x = co_await g({.name = \"?\", .n = 4});", "this->x_ = co_await g();",
                "co_return co_await g();", "if (x == 1) co_await g();", "while (!(a && b())) co_await g();",
                "for (int i = 0; i < n; ++i) { co_await g(i); }", "if (a) { b(); } else co_await g();",
                "value.emplace(co_await g(1, h(2)));", "co_return outcome<int>(co_await g());",
                "co_await g(n > 1 ? 2 : 3);", "// if (co_await g()) x;", "auto s = \"(co_await g())\";",
                "std::vector<int> all = co_await s.fanout<&counter::add>(1);",
                "auto f = [&x](int y) { return x + y; };", "auto f = [](int y) -> task<> { co_return; };",
                "int a[2]; a[x] = 1;", "switch (x) { case 1: co_await g(); }"]:
            with self.subTest(statement=statement):
                self.assert_accepted("coroutines.py", self.judge(statement))

    def test_what_is_easy_to_get_wrong_is_refused(self):
        for statement in [
                "if (co_await g()) h();", "while (auto x = co_await g()) h();",
                "switch (co_await g()) { default: break; }", "for (; co_await g();) h();",
                "use(co_await a(), co_await b());", "use(1, co_await b());", "x = 1 + co_await g();",
                "x = n ? co_await g() : 1;", "co_await (n ? g() : h());", "x = (co_await g()).size();",
                "co_await g([x] { return x; });", "co_await g([&](int y) { return x + y; });",
                "auto f = [x]() -> task<int> { co_return x; };",
                "run([&, n](int y) mutable -> task<> { co_await g(y); });",
                "auto f = [this] { co_await g(); };", "return x == co_await g();"]:
            with self.subTest(statement=statement):
                self.assert_refused("coroutines.py", self.judge(statement), "actors/a.cpp:3:")


class Readme(CheckCase):
    FILES = {
        "dev": "case $command in\n  run) a ;;\n  bench) d ;;\n  test) b ;;\n  help | -h) c ;;\nesac\n",
        "docs/command_line.md": "# Command line\n\n## troupe\n\n| `--version` |  | v |\n| `--log-level TEXT` |  | l |\n\n"
                                "## troupe train\n\n| `-n, --steps TEXT` |  | s |\n| `--seed TEXT` |  | s |\n\n"
                                "## troupe certs\n\n### troupe certs add\n\n| `--name TEXT` | required | n |\n",
        "docs/a.md": "```cpp\nint b = 2;\n```\n\n- in a list\n\n  ```cpp\n  int b = 2;\n  ```\n",
        "docs/code/a.cpp": "// readme: b\nint b = 2;\n// readme: end\n",
        "runtime/a.hpp": "",
        "examples/hello.cpp": "int main() {\n  // readme: hello\n  int a = 1;\n    run(a);\n  // readme: end\n}\n",
    }

    def readme(self, text):
        return {**self.FILES, "README.md": text}

    def test_what_is_true_is_accepted(self):
        self.assert_accepted("readme.py", self.readme(
            "```console\n$ ./dev run\nsolved\n$ troupe train \\\n  --seed 1\n```\n"
            "```sh by-hand\n# first\ngit clone x\nA=1 ./dev test  # all\n./my_program train --fly & ./hello\n```\n"
            "```sh\ntroupe --log-level warn train -n 10 'env.tasks=[{\"a\": 1}]' 2>&1 | grep x > y && sudo ls\n"
            "troupe --version\ntroupe certs add a --name='gpu-*' # --fly\ncat >a.py <<'E'\nprint(1)\nE\n```\n"
            "```cpp\nint a = 1;\n  run(a);\n```\n[whole](examples/hello.cpp)\n"
            "```cpp\n#include \"runtime/a.hpp\"  // all\n```\n"
            "[docs](docs/a.md#part) [web](https://example.org/x)\n"))

    def test_a_script_in_tools_is_a_command_of_dev(self):
        files = {**self.readme("```sh\n./dev swim\n```\n"), "tools/swim": "#!/bin/sh\n", "tools/help.txt": ""}
        self.assert_refused("readme.py", files, "README.md:2: ./dev swim: ./dev knows run, bench, test, help\n")
        (self.root / "tools/swim").chmod(0o755)
        self.assert_accepted("readme.py", files)

    def test_what_is_not_is_refused(self):
        for text, part in [
                ("```sh\n./dev fly\n```\n", "./dev fly"),
                ("```sh\n./dev bench fly --json\n```\n", "bench_fly"),
                ("```console\n$ troupe fly\n```\n", "there is no such command; known: certs, train"),
                ("```sh\ntroupe train -n 1 --fly 2\n```\n", "`troupe train` has no --fly, says docs/command_line.md"),
                ("```sh\ntroupe certs add --seed 2\n```\n", "`troupe certs add` has no --seed"),
                ("```sh\nls | troupe certs -n 1\n```\n", "`troupe certs` has no -n"),
                ("```sh\nls && ./run.sh\n```\n", "./run.sh"),
                ("```sh\nfly\n```\n", "expected ./dev, troupe, ./my_program"),
                ("```sh\ntroupe train 'a\n```\n", "no shell command"),
                ("say build/release/x\n", "README.md:1: names a path in build/release/"),
                ("```cpp\nint a = 2;\n```\n", "README.md:2: this code is in no file below examples/ or docs/code/"),
                ("```cpp\nint a = 1;\n  run(a);\n```\n", "examples/hello.cpp, which is not linked"),
                ("```cpp\n#include \"runtime/b.hpp\"\n```\n", "README.md:2: includes runtime/b.hpp, which does not exist"),
                ("[docs](docs/b.md)\n", "README.md:1: names docs/b.md, which does not exist"),
                ('<img alt="a" src="docs/c.png">\n', "docs/c.png"),
                ("x" * 401 + "\n", "README.md:1: has 401 characters"),
                ("x\n" * 151, "README.md: has 151 lines")]:
            with self.subTest(text=text):
                self.assert_refused("readme.py", self.readme(text), part)

    def test_pages_are_held_to_the_same(self):
        for text, part in [("```cpp\nint a = 2;\n```\n", "docs/b.md:2: this code is in no file"),
                           ("```sh\ntroupe train --fly\n```\n", "docs/b.md:2: troupe train --fly: `troupe train` has no --fly"),
                           ("\nbuild/release/x\n", "docs/b.md:2: names a path in build/release/"),
                           ("x" * 401 + "\n", "docs/b.md:1: has 401 characters")]:
            with self.subTest(text=text):
                self.assert_refused("readme.py", {**self.readme(""), "docs/b.md": text}, part)

    def test_examples_are_called_as_the_pages_call_them(self):
        self.assert_refused("readme.py", {**self.readme(""), "examples/fly.cpp": "// A.\n// build/release/examples/fly\n"},
                            "examples/fly.cpp:2: names a path in build/release/; say ./fly, as the pages do")

    def test_without_the_page_of_the_command_line_no_command_is_known(self):
        self.assert_refused("readme.py", {"dev": self.FILES["dev"], "README.md": "```sh\ntroupe train\n```\n"},
                            "docs/command_line.md is missing")

    def test_paths_in_docs_are_there(self):
        self.assert_accepted("readme.py", {
            **self.readme(""), "docs/b.md": "[a](a.md#x) [h](../runtime/a.hpp) `runtime/a.hpp` `runtime/` `runtime/a b`\n"})
        for text, target in [("[c](c.md)", "c.md"), ("[h](runtime/a.hpp)", "runtime/a.hpp"),
                             ("`runtime/gone.hpp`", "runtime/gone.hpp"), ("`docs/gone/`", "docs/gone/")]:
            with self.subTest(text=text):
                self.assert_refused("readme.py", {**self.readme(""), "docs/b.md": f"\n{text}\n"},
                                    f"docs/b.md:2: names {target}, which does not exist")

    def test_figures_say_their_day_and_which_run_they_are(self):
        self.assert_accepted("readme.py", self.readme("| what | figure |\n|---|---|\n| a | 1 |\n"))
        for head in ["| what | figure | machine, day, which run | command |\n|---|---|---|---|\n",
                     "| what | figure | machine | date | which run | command |\n|---|---|---|---|---|---|\n"]:
            def page(row):
                return {**self.readme(""), "docs/b.md": head + row + "\n"}
            self.assert_accepted("readme.py", page("| a | 1 | Xeon, 2026-11-22, best of 3 | `x` |"))
            self.assert_accepted("readme.py", page("| a | 1 | Xeon | 2026-11-22 | one run | `x` |"))
            for row, part in [("| a | 1 | Xeon, best of 3 | `x` |", "docs/b.md:3: expected a day"),
                              ("| a | 1 | Xeon, 2026-11-22 | `x --runs y` |", "docs/b.md:3: expected a median"),
                              ("| the best of 2026-11-22 | 1 | `x` |", "docs/b.md:3: expected a day")]:
                with self.subTest(head=head, row=row):
                    self.assert_refused("readme.py", page(row), part)

    def test_a_missing_readme_is_refused(self):
        self.assert_refused("readme.py", {}, "README.md: is missing")

    def test_commands_of_the_readme_are_run_in_order(self):
        plant(self.root, self.readme(
            "```sh\n./dev run\ntroupe make a\ntroupe use a\n```\n```sh by-hand\ntroupe use b\n```\n"))
        plant(self.root, {"b/deploy/troupe/troupe": '#!/bin/sh\ncase $1 in make) touch "$2" ;; use) cat "$2" ;; esac\n'})
        (self.root / "b/deploy/troupe/troupe").chmod(0o755)
        good = run(HERE / "readme.py", self.root, "--run", self.root / "b")
        self.assertEqual((good.returncode, good.stdout), (0, "2 passed, 0 failed\n"))
        (self.root / "b/deploy/troupe/troupe").write_text("#!/bin/sh\nexit 3\n")
        bad = run(HERE / "readme.py", self.root, "--run", self.root / "b")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("troupe make a: exit code 3", bad.stdout)
        self.assertTrue(bad.stdout.endswith("0 passed, 2 failed\n"), bad.stdout)


class PublicHeaders(CheckCase):
    HEADERS = {
        "runtime/alone.hpp": "#include <string>\nstruct alone { std::string text; };\n",
        "runtime/forgets.hpp": "struct forgets { std::string text; };\n",
        "runtime/says.hpp": "// All of it.\n\nnamespace troupe {\n/// A.\nstruct a {};\n}\n",
        "runtime/stray.hpp": "#include <string>\n\n/// All of it.\nnamespace troupe {\nstruct a {};\n}\n",
        "runtime/warned.hpp": "inline int warned(int n) { int unused = n; return n; }\n",
        "actors/private.hpp": "struct hidden { std::string text; };\n",
    }

    def check_headers(self, *public, flags=()):
        """What the check says where the table names these headers, and the build precompiles <string>."""
        plant(self.root, {**self.HEADERS, "pch.hxx": "#include <string>\n", "runtime/a.cpp": ""})
        rows = "".join(f"| do | `{header}` |\n" for header in public)
        command = (f"/usr/bin/ccache clang++-19 -std=c++20 -Wall -Wextra -I{self.root} -include {self.root}/pch.hxx "
                   f"-Xclang -include-pch -Xclang {self.root}/pch.hxx.pch -o a.o -c {self.root}/runtime/a.cpp")
        plant(self.root, {
            "docs/architecture.md": f"`actors/private.hpp`\n## Which header for what\n\n{rows}\n## Words\n`actors/private.hpp`\n",
            "b/compile_commands.json": json.dumps([{"directory": str(self.root), "command": command,
                                                    "file": f"{self.root}/runtime/a.cpp"}])})
        result = run(HERE / "public_headers_test.py", self.root / "b", self.root, *flags)
        return result.returncode, result.stdout

    def test_a_header_that_compiles_alone_passes(self):
        self.assertEqual(self.check_headers("runtime/alone.hpp"), (0, "1 passed, 0 failed\n"))

    def test_a_header_that_leans_on_another_or_is_warned_of_fails(self):
        for header, part in [("runtime/forgets.hpp", "use of undeclared identifier 'std'"),
                             ("runtime/warned.hpp", "unused variable"), ("runtime/gone.hpp", "file not found")]:
            with self.subTest(header=header):
                code, output = self.check_headers("runtime/alone.hpp", header)
                self.assertEqual(code, 1, output)
                self.assertIn(f"FAILED {header} does not compile alone", output)
                self.assertIn(part, output)
                self.assertTrue(output.endswith("1 passed, 1 failed\n"), output)

    def test_a_header_that_describes_the_namespace_fails(self):
        code, output = self.check_headers("runtime/says.hpp", "runtime/stray.hpp")
        self.assertEqual(code, 1, output)
        self.assertIn("FAILED runtime/stray.hpp has a /// comment before `namespace troupe`", output)
        self.assertTrue(output.endswith("1 passed, 1 failed\n"), output)

    def test_all_headers_are_checked_where_that_is_asked(self):
        code, output = self.check_headers("runtime/alone.hpp", flags=["--all"])
        self.assertEqual(code, 1)
        self.assertIn("FAILED actors/private.hpp", output)
        self.assertTrue(output.endswith("2 passed, 4 failed\n"), output)

    def test_a_table_that_names_none_fails(self):
        self.assertEqual(self.check_headers(), (1, "0 passed, 0 failed\n"))


class Runner(CheckCase):
    def run_scripts(self, scripts, suites=(), names=(), **more):
        plant(self.root, {f"{name}.sh": "#!/bin/bash\n" + text for name, text in scripts.items()})
        for name in scripts:
            (self.root / f"{name}.sh").chmod(0o755)
        plant(self.root, {
            "tests/suites.txt": "".join(f"{suite}\n" for suite in suites),
            "tests/scripts.txt": "".join(f"{self.root}/{name}.sh\n" for name in scripts)})
        result = run(HERE.parent / "run.py", self.root, *names, **more)
        return result.returncode, result.stdout.splitlines()[-1], result.stdout

    def test_closing_lines_are_added_up(self):
        code, closing, _ = self.run_scripts(
            {"a": 'echo "2 passed, 0 failed"', "b": '[[ -d $1 ]] && echo "1 passed, 0 failed, 3 skipped"'})
        self.assertEqual((code, closing), (0, "3 passed, 0 failed, 3 skipped"))

    def test_the_note_of_a_killed_job_may_follow_the_closing_line_and_nothing_else_may(self):
        note = "/a/b.sh: line 12: 10897 Killed                  prometheus --config.file=p.yml > p.log 2>&1"
        for after, expected in {note: 0, f"{note}\n{note}": 0, "bye": 1, f"bye\n{note}": 1}.items():
            with self.subTest(after=after):
                code, _, output = self.run_scripts({"a": f"echo '1 passed, 0 failed'\necho '{after}' >&2"})
                self.assertEqual(code, expected, output)

    def test_a_suite_and_a_script_run_side_by_side(self):
        plant(self.root, {"test_x": """\
            #!/bin/bash
            while [[ $1 != -o ]]; do shift; done
            mkfifo "$(dirname "$0")/pipe"
            read -r passed <"$(dirname "$0")/pipe"
            echo "<Catch><TestCase name='a'><OverallResult success='$passed'/></TestCase></Catch>" >"$2"
            """})
        (self.root / "test_x").chmod(0o755)
        code, closing, output = self.run_scripts(
            {"a": f"""while [[ ! -p {self.root}/pipe ]]; do :; done
                      echo true >{self.root}/pipe
                      echo "1 passed, 0 failed" """}, suites=[f"{self.root}/test_x"])
        self.assertEqual((code, closing), (0, "2 passed, 0 failed, 0 skipped"), output)

    def begun_in_order(self, kept):
        """The names of three tests and one that fails, in the order in which they are begun one after the other where seconds.json
        holds that text."""
        plant(self.root, {"tests/results/seconds.json": kept})
        (self.root / "begun").write_text("")
        suite = self.plant_suite('<TestCase name="x"><OverallResult success="true"/></TestCase></Catch>',
                                 end=f"echo test_x >>{self.root}/begun")
        scripts = {name: f'echo {name} >>{self.root}/begun; echo "1 passed, {failed} failed"'
                   for name, failed in (("a", 0), ("b", 0), ("c", 1))}
        self.run_scripts(scripts, suites=[suite], jobs=1)
        return (self.root / "begun").read_text().split()

    def test_the_test_that_took_longest_begins_first(self):
        folder = self.root.name
        kept = {f"{folder}/a.sh": 20, f"{folder}/b.sh": 400.5, f"{folder}/c.sh": 1, "test_x": 30, "test_other": 7}
        self.assertEqual(self.begun_in_order(json.dumps(kept)), ["b", "test_x", "a", "c"])
        now = json.loads((self.root / "tests/results/seconds.json").read_text())
        self.assertEqual(now.keys(), kept.keys())
        self.assertEqual((now["test_other"], now[f"{folder}/c.sh"]), (7, 1))  # the one did not run, the other one failed
        self.assertTrue(all(now[name] < 20 for name in (f"{folder}/a.sh", f"{folder}/b.sh", "test_x")), now)

    def test_without_seconds_the_tests_begin_in_the_order_of_their_lists(self):
        for text in "", "{", "[1]", '{"a": null}':
            with self.subTest(text=text):
                self.assertEqual(self.begun_in_order(text), ["a", "b", "c", "test_x"])

    def temporary_folders(self, *names, **environment):
        """Where scripts of these names, and a suite, have their temporary files; "" is where the system has them."""
        told = self.root / "told"
        told.write_text("")
        text = f'echo "$(basename "$0")=$TMPDIR" >>{told}; [[ -z $TMPDIR ]] || touch "$(mktemp -d)/file"'
        suite = self.plant_suite('<TestCase name="x"><OverallResult success="true"/></TestCase></Catch>', end=text)
        code, _, output = self.run_scripts({name: f'{text}; echo "1 passed, 0 failed"' for name in names}, [suite], jobs=1,
                                           **environment)
        self.assertEqual(code, 0, output)
        return dict(line.split("=") for line in told.read_text().splitlines())

    def test_temporary_files_are_in_memory_and_gone_at_the_end(self):
        left = pathlib.Path(f"/dev/shm/troupe-{2 ** 22 + 1}")  # of a run that was killed; there is no such process
        if runner.has_room_in_memory():
            left.mkdir(exist_ok=True)
        [folder] = set(self.temporary_folders("a", "b", TMPDIR="").values())
        self.assertRegex(folder, "^/dev/shm/troupe-[0-9]+$" if runner.has_room_in_memory() else "^$")
        self.assertFalse(left.exists())
        self.assertFalse(folder and os.path.exists(folder))

    def test_a_folder_for_temporary_files_that_is_named_stays(self):
        self.assertEqual(set(self.temporary_folders("a", TMPDIR=str(self.root)).values()), {str(self.root)})

    def test_what_is_about_disks_has_them_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.root = pathlib.Path(folder) / "deploy"
            self.root.mkdir()
            folders = self.temporary_folders("disk_test", "other_test", TMPDIR="")
        self.assertEqual(folders["disk_test.sh"], "")
        self.assertEqual(folders["other_test.sh"], folders["test_x"])

    def test_whatever_goes_wrong_counts_as_a_failure(self):
        for text in ['echo "1 passed, 2 failed"; exit 1', 'echo "1 passed, 0 failed"; exit 1',
                     "echo bye", 'echo "0 passed, 0 failed"', "exit 0", "kill -SEGV $$", "sleep 60"]:
            with self.subTest(text=text):
                code, closing, output = self.run_scripts({"a": text})
                self.assertEqual(code, 1, output)
                self.assertNotIn(" 0 failed", closing)
                self.assertIn("FAILED a.sh", output)

    def test_a_suite_that_is_not_built_counts_as_a_failure(self):
        code, closing, _ = self.run_scripts({}, suites=["/nowhere/test_x"])
        self.assertEqual((code, closing), (1, "0 passed, 1 failed, 0 skipped"))

    def test_one_script_is_run_by_its_path_alone(self):
        scripts = {"a": 'echo "1 passed, 0 failed"', "a.sh.b": "exit 1", "c": 'echo "0 passed, 0 failed, 2 skipped"',
                   "d": 'echo "1 passed, 0 failed, 2 skipped"', "e": 'echo "$A $B"; exit 1'}
        plant(self.root, {"tests/environment.txt": "A=from the file\nB=b=c\n"})
        for name, expected in {"a": 0, "a.sh.b": 1, "c": 77, "d": 0, "e": 1}.items():
            with self.subTest(name=name):
                code, _, output = self.run_scripts(scripts, names=["--script", f"{self.root}/{name}.sh"])
                self.assertEqual(code, expected, output)
                self.assertTrue(output.startswith(f"{name}.sh: "), output)
        self.assertIn("from the file b=c", output)
        self.assertEqual(self.run_scripts(scripts, names=["--script", f"{self.root}/gone.sh"])[0], 1)

    def test_running_nothing_is_an_error(self):
        code, closing, _ = self.run_scripts({"a": 'echo "2 passed, 0 failed"'}, names=["b"])
        self.assertEqual((code, closing), (1, "0 passed, 0 failed, 0 skipped"))

    def plant_suite(self, report, end=""):
        """Plants a suite that writes the report and then runs the line `end`. Returns its path."""
        suite = self.root / "test_x"
        suite.write_text("#!/bin/bash\nwhile [[ $1 != -o ]]; do shift; done\ncat >\"$2\" <<'XML'\n"
                         f'<?xml version="1.0" encoding="UTF-8"?>\n<Catch name="x">\n{report}\nXML\n{end}\n')
        suite.chmod(0o755)
        return suite

    def test_catch2_reports_are_read_to_the_point_where_they_stop(self):
        suite = self.plant_suite("""
            <TestCase name="x: good"><OverallResult success="true"/></TestCase>
            <TestCase name="x: bad"><Expression success="false" type="CHECK" filename="x.cpp" line="7">
            <Original>a == 1</Original><Expanded>2 == 1</Expanded></Expression>
            <OverallResult success="false"/></TestCase>
            <TestCase name="x: dies">""", end="kill -ABRT $$")
        code, closing, output = self.run_scripts({}, suites=[suite])
        self.assertEqual((code, closing), (1, "1 passed, 2 failed, 0 skipped"), output)
        for part in ["FAILED x: bad", "x.cpp:7: CHECK failed", "a == 1", "with 2 == 1",
                     "FAILED x: dies: test_x ended by SIGABRT", "3 cases took ", " s  test_x: x: dies\n"]:
            self.assertIn(part, output)

    def test_the_ten_slowest_cases_stand_before_the_closing_line(self):
        cases = "".join(f'<TestCase name="case {n}"><OverallResult success="true" durationInSeconds="{n}000.2"/></TestCase>'
                        for n in (3, 12, 1, 5, 2, 11, 4, 10, 9, 6, 8, 7))
        suite = self.plant_suite(f"{cases}</Catch>")
        code, closing, output = self.run_scripts({"a": 'echo "7 passed, 0 failed"'}, suites=[suite])
        self.assertEqual((code, closing), (0, "19 passed, 0 failed, 0 skipped"), output)
        heading, *slowest = output.splitlines()[-12:-1]
        self.assertRegex(heading, r"^13 cases took 7800\d\.\d s together\. The slowest:$")
        self.assertEqual(slowest, [f"{n * 1000 + 0.2:8} s  test_x: case {n}" for n in range(12, 2, -1)])

    def test_a_script_is_one_case_and_a_run_of_some_tests_names_no_slowest(self):
        scripts = {"a": 'echo "7 passed, 0 failed"', "b": 'echo "0 passed, 0 failed, 2 skipped"'}
        output = self.run_scripts(scripts)[2]
        self.assertIn("2 cases took ", output)
        for name in scripts:
            self.assertIn(f" s  {self.root.name}/{name}.sh\n", output)
        self.assertNotIn("cases took", self.run_scripts(scripts, names=["a.sh"])[2])


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
