"""The options of algorithms, from `troupe config ALGO --json`."""
import json
import re

import markdown
import program

# In these sections algorithms have options alike; docs/configuration.md has those once. "" is for options in no section.
_SHARED_SECTIONS = ["", "checkpoint", "env", "evaluation"]
_HEAD = ["option", "default", "range", "meaning"]
SHARED_PAGE = "docs/configuration.md"
MUST = re.compile(r"^ It must be .*\.$")


def object_in(schema):
    """The schema of the object that the option may be, or None."""
    for one in [schema, *schema.get("anyOf", [])]:
        if "properties" in one:
            return one
    return None


def list_options(schema, before=""):
    """Each option's dotted name and schema, sections included."""
    for name, option in schema["properties"].items():
        yield before + name, option
        inner = object_in(option)
        if inner:
            yield from list_options(inner, f"{before}{name}.")
        for one in [option, *option.get("anyOf", [])]:
            if one.get("type") == "array" and "properties" in one["items"]:
                yield from list_options(one["items"], f"{before}{name}[].")


def number(value):
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e12:
        value = int(value)
    if isinstance(value, float):
        mantissa, _, exponent = f"{value:g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return f"{value:,}" if abs(value) >= 10000 else str(value)


def default_of(option):
    if "properties" in option or "default" not in option:
        return ""
    value = option["default"]
    if isinstance(value, float):
        return f"`{number(value).replace(',', '')}`"
    return f"`{value}`" if isinstance(value, str) and value else f"`{json.dumps(value)}`"


def bounds_of(option):
    low, high = option.get("minimum"), option.get("maximum")
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    signs = [("exclusiveMinimum", ">"), ("minimum", "≥"), ("exclusiveMaximum", "<"), ("maximum", "≤")]
    return ", ".join(f"{sign} {number(option[key])}" for key, sign in signs if key in option)


def range_of(option):
    if "anyOf" in option:
        return " or ".join(range_of(one) for one in option["anyOf"])
    if "enum" in option:
        return ", ".join(f"`{name}`" for name in option["enum"])
    kind = option.get("type", "")
    if "properties" in option:
        return "section"
    if kind == "array":
        items = range_of(option["items"]) if "properties" not in option["items"] else "section"
        many = f"at most {number(option['maxItems'])}: " if "maxItems" in option else ""
        return f"list of {many}{items}"
    words = {"null": "`null`", "boolean": "`true`, `false`", "string": "text"}
    if kind in words:
        return words[kind]
    return f"{kind} {bounds_of(option)}".strip()


def row_of(name, option, default=None):
    unit = option.get("unit")
    allowed = range_of(option) + (f", in {unit}" if unit and unit not in ("return",) else "")
    return [f"`{name}`", default_of(option) if default is None else default, markdown.escape(allowed) if "`" not in allowed
            else allowed.replace("|", "\\|"), markdown.escape(option.get("description", ""))]


def section_of(name):
    return name.split(".")[0] if "." in name else ""


def key_of(option):
    """What must be alike for algorithms to share an option, its default aside."""
    if object_in(option):
        return option.get("description")
    return json.dumps({name: value for name, value in option.items() if name != "default"}, sort_keys=True)


def extends(option, shared):
    """Whether the option is the shared one, to whose description the algorithm may add what it must be."""
    added = option.get("description", "").removeprefix(shared.get("description", ""))
    return key_of({**option, "description": ""}) == key_of({**shared, "description": ""}) and added in ("", *MUST.findall(added))


def sections_of(told, algo):
    return {name: option for name, option in told.schemas[algo]["properties"].items() if object_in(option)}


def list_shared(told):
    """The shared options: {name: (schema, default or None where algorithms differ)}."""
    of_algorithms = [dict(list_options(told.schemas[algo])) for algo in program.ON_POLICY + program.OFF_POLICY]
    shared = {}
    for name, option in of_algorithms[0].items():
        # A section's own name counts to the section; it is a heading.
        if section_of(name) not in _SHARED_SECTIONS or name in told.schemas["ppo"]["properties"] and object_in(option):
            continue
        others = [options.get(name) for options in of_algorithms]
        if all(other is not None and extends(other, option) for other in others):
            defaults = {default_of(other) for other in others}
            shared[name] = option, defaults.pop() if len(defaults) == 1 else None
    return shared


def is_shared(shared, name, option):
    return name in shared and key_of(shared[name][0]) == key_of(option) and shared[name][1] == default_of(option)


def render_sections(rows, sections):
    """A heading and a table for each section; rows are (name, row)."""
    parts = []
    for section in sorted({section_of(name) for name, _ in rows}):
        described = sections.get(section, {}).get("description", "")
        parts.append(f"### `{section}`" if section else "### General")
        if described:
            parts.append(markdown.wrap(markdown.escape(described)))
        parts.append(markdown.table_with_rest(_HEAD, [row for name, row in rows if section_of(name) == section]))
    return "\n\n".join(parts)


def render(told, name, page):
    shared = list_shared(told)
    if name == "shared":
        rows = [(option, row_of(option, schema, "depends on the algorithm" if default is None else default))
                for option, (schema, default) in shared.items()]
        described = [sections_of(told, algo) for algo in program.ON_POLICY + program.OFF_POLICY]
        alike = {section: one for section, one in described[0].items()
                 if all(section in others and others[section]["description"] == one["description"] for others in described)}
        return render_sections(rows, alike)
    if name not in told.schemas:
        raise program.Unknown(f"no such algorithm; known: {', '.join(told.schemas)}")
    sections = sections_of(told, name)
    options = [(option, schema) for option, schema in list_options(told.schemas[name]) if option not in sections]
    rows = [(option, row_of(option, schema)) for option, schema in options if not is_shared(shared, option, schema)]
    left_out = sorted({f"`{section_of(option)}`" if section_of(option) else f"`{option}`"
                       for option, schema in options if is_shared(shared, option, schema)})
    to = markdown.link(page, told.root, SHARED_PAGE)
    words = ", ".join(left_out[:-1]) + " and " + left_out[-1]
    first = markdown.wrap(f"These tables leave out the options that all algorithms share. Those of {words} are in "
                          f"[Configuration]({to}#shared-options).")
    return first + "\n\n" + render_sections(rows, sections)


def places(told):
    return [("options", "shared")] + [("options", algo) for algo in told.algorithms]
