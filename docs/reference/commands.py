"""The command line, from `troupe describe --json`."""
import markdown
import program


def find(tree, words):
    for word in words:
        named = [command for command in tree["commands"] if command["name"] == word]
        if not named:
            raise program.Unknown(f"no such command; known: {', '.join(one['name'] for one in tree['commands'])}")
        tree = named[0]
    return tree


def list_commands(tree, words=()):
    for command in tree["commands"]:
        yield (*words, command["name"])
        yield from list_commands(command, (*words, command["name"]))


def usage_of(told, words, command):
    parts = [told.tree["program"], *words]
    if command["options"]:
        parts.append("[OPTION...]")
    for positional in command["positionals"]:
        name = positional["names"][0].upper() + ("..." if positional.get("repeatable") else "")
        parts.append(name if positional.get("required") else f"[{name}]")
    if command["commands"]:
        parts.append("COMMAND")
    return " ".join(parts)


def names_of(option):
    argument = option.get("argument", "")
    names = ", ".join(option["names"])
    return f"`{names} {argument}`" if argument else f"`{names}`"


def list_in_words(names, last):
    names = [f"`{name}`" for name in sorted(names)]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" {last} " + names[-1]


def meaning_of(option):
    text = option["description"].strip()
    text = text[:1].upper() + text[1:]
    sentences = [text if not text or text.endswith((".", "!", "?")) else text + "."]
    if option.get("choices"):
        sentences.append("One of " + ", ".join(f"`{choice}`" for choice in option["choices"]) + ".")
    if option.get("range"):
        low, _, high = option["range"].partition(" - ")
        sentences.append(f"From {low} to {high}.")
    if option.get("repeatable"):
        sentences.append("May be repeated.")
    if option.get("environment"):
        sentences.append(f"The environment variable `{option['environment']}` sets it, too.")
    if option.get("needs"):
        sentences.append(f"Needs {list_in_words(option['needs'], 'and')}.")
    if option.get("excludes"):
        sentences.append(f"Not together with {list_in_words(option['excludes'], 'or')}.")
    return markdown.escape(" ".join(sentences))


def row_of(name, option):
    default = option["default"] or ("required" if option.get("required") else "")
    return [name, f"`{default}`" if option["default"] else default, meaning_of(option)]


def table_of(what, rows):
    """A table of options or arguments; the column of defaults is left out where there is none."""
    if not any(default for _, default, _ in rows):
        return markdown.table_with_rest([what, "meaning"], [[name, meaning] for name, _, meaning in rows])
    return markdown.table_with_rest([what, "default", "meaning"], rows)


def render(told, name, _page):
    words = name.split()
    command = find(told.tree, words)
    parts = ["```text\n" + usage_of(told, words, command) + "\n```"]
    if words:
        parts.append(markdown.wrap(markdown.escape(command["description"])))
    if command["positionals"]:
        rows = [row_of(f"`{one['names'][0].upper()}`", one) for one in command["positionals"]]
        parts.append(table_of("argument", rows))
    shown = [one for one in command["options"] if not words or "--help" not in one["names"]]
    if shown:
        parts.append(table_of("option", [row_of(names_of(one), one) for one in shown]))
    if command["commands"]:
        rows = []
        for one in command["commands"]:
            whole = [told.tree["program"], *words, one["name"]]
            rows.append([f"[`{' '.join(whole)}`](#{'-'.join(whole)})", markdown.escape(one["description"])])
        parts.append(markdown.table(["command", "meaning"], rows))
    return "\n\n".join(parts)


def places(told):
    return [("command", "")] + [("command", " ".join(words)) for words in list_commands(told.tree)]
