"""Refuses coroutines that are easy to get wrong: coroutines.py [ROOT]

1. A co_await stands alone: `co_await e;`, `x = co_await e;` or `co_return co_await e;`, also as the
   one argument of a call, `f(co_await e);`. Not in a condition, nor beside another operand.
2. It is no branch of a `?:`, awaits none, and its statement makes no lambda with a capture.
3. A lambda with a capture is no coroutine: its captures die with it, its frame lives on.

The third is the common fault; the first two are what compilers have got wrong, and what lets a
reader see where other code may run. Tests are free.
"""
import re

import source

_OPENING, _CLOSING = "([{", ")]}"
_LABEL = re.compile(r"\s*(?:else\b|do\b|case\b[^:]*:|default\s*:)")
_CONTROL = re.compile(r"\s*(?:if|for|while|switch)\b\s*(?:constexpr\s*)?\(")
_ALONE = re.compile(r"\s*(?:co_return\b|[^=?]*[^=!<>?]=)?\s*$")
_CALL = re.compile(r"\s*(?:co_return\b|[^=?()]*[^=!<>?]=)?\s*[\w:.<>*-]*[\w>]\($")
_CAPTURING_LAMBDA = re.compile(
    r"(?:^|[=(,{;&|?:\s])\[(?=[^\]\[]*[\w&=])[^\]\[]*\]\s*(?:<[^{;]*>)?\s*[({]")


def find_matching(text, position):
    """Where the bracket opened at position closes."""
    depth = 0
    for i in range(position, len(text)):
        if text[i] in _OPENING:
            depth += 1
        elif text[i] in _CLOSING:
            depth -= 1
            if depth == 0:
                return i
    return len(text)


def statement_start(text, position):
    """The first position of the statement around `position`."""
    depth = 0
    for i in range(position - 1, -1, -1):
        if text[i] in ")]":
            depth += 1
        elif text[i] in "([":
            depth -= 1
        elif text[i] in "{}" or (text[i] == ";" and depth <= 0):
            return i + 1
    return 0


def statement_end(text, position):
    """Where the statement around `position` ends: at its semicolon or the bracket around it."""
    depth = 0
    for i in range(position, len(text)):
        if text[i] in _OPENING:
            depth += 1
        elif text[i] in _CLOSING:
            depth -= 1
            if text[i] == "}" and depth < 0:
                return i
        elif text[i] == ";" and depth <= 0:
            return i
    return len(text)


def strip_control(before):
    """`before` without the labels and whole conditions that a statement may follow."""
    while True:
        label, control = _LABEL.match(before), _CONTROL.match(before)
        if label:
            before = before[label.end():]
        elif control:
            end = find_matching(before, control.end() - 1)
            if end == len(before):
                return before  # the co_await is in the condition
            before = before[end + 1:]
        else:
            return before


def is_in_for_head(text, position):
    return any(match.end() <= position < find_matching(text, match.end() - 1)
               for match in re.finditer(r"\bfor\s*\(", text))


def judge_await(text, position):
    before = strip_control(text[statement_start(text, position):position])
    after = text[position:statement_end(text, position)]
    if _CONTROL.match(before) or is_in_for_head(text, position):
        return "co_await in a condition: await into a variable before it"
    if "?" in before or re.match(r"co_await\s*\([^()]*\?", after):
        return "co_await in a conditional expression: write an if"
    is_argument = _CALL.match(before) and find_matching("(" + after, 0) == len(after.rstrip())
    is_closed = after.count("(") == after.count(")")
    if not (_ALONE.match(before) and is_closed) and not is_argument:
        return "co_await beside other operands: await into a variable before"
    if _CAPTURING_LAMBDA.search(after):
        return "a lambda with a capture in a co_await's statement: name it before"
    return None


def find_lambda_bodies(text):
    """Where each capturing lambda stands, and its body."""
    for match in _CAPTURING_LAMBDA.finditer(text):
        at = match.end() - 1
        if text[at] == "(":
            at = text.find("{", find_matching(text, at))
            between = text[find_matching(text, match.end() - 1):at] if at >= 0 else ";"
            if ";" in between:
                continue
        yield match.start(), text[at:find_matching(text, at) + 1]


def find_problems(root):
    folders = [folder for folder in source.FOLDERS if folder != "tests"]
    for path in source.list_sources(root, folders):
        text = source.strip_text((root / path).read_text())
        for match in re.finditer(r"\bco_await\b", text):
            reason = judge_await(text, match.start())
            if reason:
                yield f"{path}:{source.line_of(text, match.start())}: {reason}"
        for position, body in find_lambda_bodies(text):
            if re.search(r"\bco_(await|return|yield)\b", body):
                yield (f"{path}:{source.line_of(text, position + 1)}: a lambda with a capture is a "
                       "coroutine: make it a function that takes values")


if __name__ == "__main__":
    source.finish("coroutines", list(find_problems(source.root_argument())))
