"""Refuses a message that does not name its thing: messages.py [ROOT]

"expected 1 to 9, got 80" says nothing of what was 80. A std exception that is thrown with a text that begins
with "expected" reaches users as it is, unless a caller puts the name before it. The files where each such
message gets its name from a caller are in NAMED_BY_CALLERS. Exceptions of Troupe's own are not checked,
because they have their name in another argument.
"""
import re

import source

_THROWN = re.compile(r"throw\s+std::(?:invalid_argument|runtime_error|logic_error|out_of_range)\s*\(\s*"
                     r"(?:std::string\s*\(\s*|fmt::format\s*\(\s*)?\"expected ")
NAMED_BY_CALLERS = {
    "actors/coder/recorded_runs.cpp",
    "actors/environments/space_json.cpp",
    "actors/llm/tasks/data_problems.cpp",
    "actors/llm/tasks/data_rows.cpp",
    "actors/llm/tasks/named_rewards.cpp",
    "actors/llm/tasks/python_problems.cpp",
    "actors/llm/tokenizer/bpe.cpp",
    "actors/llm/tokenizer/tokenizer.cpp",
    "actors/openenv/text/chat_view.cpp",
    "actors/openenv/text/served_world.cpp",
    "actors/python/python_reward.cpp",
    "actors/worlds/check_world.cpp",
    "algorithms/language_models/grpo/grpo_task.cpp",
    "algorithms/off_policy/off_policy_trainer.cpp",
    "algorithms/program/completion_script.cpp",
    "algorithms/program/eval.cpp",
    "algorithms/program/status/address.cpp",
    "algorithms/program/status/program_status.cpp",
    "algorithms/program/status/status.cpp",
    "algorithms/program/train.cpp",
    "runtime/base/user_folder.hpp",
    "runtime/cluster/listen_address.cpp",
}


def main():
    root = source.root_argument()
    problems = []
    for path in source.list_sources(root, ["runtime", "actors", "algorithms"]):
        text = (root / path).read_text()
        if str(path) in NAMED_BY_CALLERS:
            continue
        for match in _THROWN.finditer(text):
            problems.append(f"{path}:{source.line_of(text, match.start())}: the message names no thing; "
                            "say `NAME: expected ..., got ...`")
    source.finish("messages", problems)


if __name__ == "__main__":
    main()
