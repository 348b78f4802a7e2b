"""Writes tests/fixtures/llm/chat_templates/cases.json: small templates that use each construct of the interpreter, and what
transformers' own environment of jinja2 writes for them (null where it refuses). Needs the packages transformers and jinja2."""
import datetime
import json
import pathlib

from transformers.utils import chat_template_utils

PLACE = pathlib.Path(__file__).resolve().parents[2] / "fixtures/llm/chat_templates/cases.json"

VARIABLES = {
    "s": " Hello, World ", "e": "", "u": "naïve ß日本🙂", "lines": "one\n\ntwo\r\nthree\n", "n": 7, "z": 0, "m": -3, "f": 2.5,
    "g": 1e22, "h": 1e-7, "t": True, "no": False, "nothing": None, "numbers": [3, 1, 2], "words": ["b", "A", "c", "a"],
    "nested": [[1, "x"], [2, "y"]], "d": {"b": 1, "A": [1, {"k": None}], "items": "own", "c d": "x'y\"z"},
    "people": [{"name": "Ann", "age": 30, "tags": ["x"]}, {"name": "bob", "age": 25}, {"name": "Cy", "age": 30, "tags": []}],
    "html": "<a href='x'>&</a>", "tabs": "\t x \u00a0\u3000", "empty": [], "none_in": {"a": None, "b": 1.0, "c": 3},
}

EXPRESSIONS = """
s ~ n ~ f ~ t ~ nothing ~ g ~ h
1 + 2 * 3 - 4 / 2
7 // 2 ~ -7 // 2 ~ 7 % 3 ~ -7 % 3 ~ 7 % -3
2 ** 10 ~ 2 ** -1 ~ -2 ** 2
7.5 // 2 ~ -7.5 % 2
1 / 0
n + s
'a' * 3 ~ 2 * 'b' ~ [1] * 2
s + 5
not t or no and t
n > 3 > 1 < 2
1 < 2 < 1
'a' < 'b' ~ [1, 2] < [1, 3]
n < s
1 == 1.0 == t
'x' in 'xyz' ~ 'q' not in 'xyz'
3 in numbers ~ 'b' in d ~ none in [nothing]
1 in 'x'
s if t else e
s if no
(s if no) is defined
missing
missing.field
missing is defined
missing | default('x') ~ (e | default('y')) ~ (e | default('y', true)) ~ (missing | d)
missing or 'x'
missing == missing2
missing + 1
missing | length ~ missing | list
missing | int
d.b ~ d['A'] ~ d.nope ~ d['c d']
d.items is defined ~ d['items']
d.items() | list
d.keys() | list ~ d.values() | list
d.keys()
d.get('b') ~ d.get('q') ~ d.get('q', 5)
d | length ~ d
d | tojson
d | tojson(indent=2)
people | tojson(indent=1, sort_keys=true)
people | tojson(separators=(',', ':'))
u | tojson ~ u | tojson(ensure_ascii=true)
html | tojson
[nothing, t, 1.0, 'x', (1,), ()] | tojson
[nothing, t, 1.0, 'x', (1,), (), {'a': 1}, {}]
[u, html, tabs, lines]
none_in | tojson ~ none_in
numbers[0] ~ numbers[-1] ~ numbers[9] ~ numbers.0
numbers[::-1] ~ numbers[1:] ~ numbers[:-1] ~ numbers[-2:] ~ numbers[::2] ~ numbers[5:] ~ numbers[2:0:-1]
s[1:4] ~ u[::-1] ~ u[-2:] ~ u[3] ~ u[99]
numbers[:none] ~ numbers[none:2]
d[1:]
nothing[0]
nothing.x
missing[0]
(1, 2)[0] ~ (1, 2) ~ (1,)
s.strip() ~ '|' ~ s.lstrip() ~ '|' ~ s.rstrip() ~ '|' ~ tabs.strip() ~ '|'
s.strip(' H') ~ 'xxyxx'.strip('x') ~ 'abc'.lstrip('ba') ~ 'a'.strip('')
s.split() ~ s.split(',') ~ 'a,b,c'.split(',', 1) ~ 'a  b '.split(' ') ~ ' a  b c'.split(none, 1)
'a,b,c'.rsplit(',', 1) ~ ' a b  c '.rsplit(none, 1) ~ 'abc'.rsplit('')
'abc'.split('')
lines.splitlines() ~ lines.splitlines(true)
'a-b-c'.partition('-') ~ 'a-b-c'.rpartition('-') ~ 'abc'.partition('-')
s.upper() ~ s.lower() ~ s.title() ~ u.upper() ~ u.capitalize() ~ 'ΑΣ ΑΣΑ'.lower() ~ "they're ok".title()
s.replace('l', 'L') ~ s.replace('l', '', 1) ~ 'ab'.replace('', '-') ~ 'ab'.replace('', '-', 2)
s.find('o') ~ s.rfind('o') ~ u.find('🙂') ~ s.find('q') ~ s.find('o', 6) ~ u.find('日', -4, -1)
s.count('l') ~ ''.count('') ~ u.count('')
s.startswith(' H') ~ s.endswith(('d', 'd ')) ~ u.startswith('日', 7) ~ u.endswith('') ~ s.startswith('x', 99)
'abc'.removeprefix('a') ~ 'abc'.removesuffix('c') ~ 'abc'.removeprefix('x')
', '.join(words) ~ '-'.join('abc')
', '.join(numbers)
'{} and {1}'.format(1, 2)
'{} {name} {{}}'.format(n, name=s)
'%s=%d%%' % ('a', 3) ~ '%s' % n ~ '%r' % 'q'
'%d' % 'x'
'%s %s' % 'x'
'%s' | format(n)
numbers | first ~ numbers | last ~ 'xyz' | first ~ 'xyz' | last
empty | first is defined
numbers | join(', ') ~ people | join('/', attribute='name') ~ 'abc' | join('.')
words | sort ~ words | sort(case_sensitive=true) ~ words | sort(reverse=true) ~ numbers | sort
people | sort(attribute='age') | map(attribute='name') | join(',')
people | sort(attribute='age,name') | map(attribute='name') | join(',')
[1, 'a'] | sort
words | unique | join(',') ~ words | unique(case_sensitive=true) | join(',')
numbers | reverse | list ~ 'abc' | reverse ~ (numbers | reverse) is sequence
numbers | sum ~ people | sum(attribute='age') ~ numbers | min ~ numbers | max ~ words | max
people | map(attribute='name') | list ~ words | map('upper') | list ~ people | map(attribute='q', default='-') | list
people | selectattr('age', 'equalto', 30) | map(attribute='name') | list
people | selectattr('tags') | list | length ~ people | rejectattr('tags') | list | length
people | rejectattr('age', '>', 26) | list | length ~ people | selectattr('tags', 'defined') | list | length
numbers | select('odd') | list ~ numbers | reject('odd') | list ~ words | select('in', ['a', 'A']) | list
people | selectattr('name') | length
d | dictsort ~ d | dictsort(true) ~ {'a': 2, 'b': 1} | dictsort(by='value') ~ {'a': 2, 'b': 1} | dictsort(reverse=true)
d | items | list ~ missing | items | list
words | batch(3) | list ~ words | batch(3, 'x') | list
s | trim ~ '|' ~ tabs | trim ~ '|' ~ 'xax' | trim('x') ~ nothing | trim ~ n | trim
s | upper ~ s | lower ~ u | capitalize ~ "they're o-k (x)" | title ~ n | upper
n | string ~ t | string ~ nothing | string ~ f | string
'12' | int ~ ' 7 ' | int ~ '3.9' | int ~ 'x' | int ~ 'x' | int(5) ~ f | int ~ -2.9 | int ~ t | int ~ nothing | int ~ '1_000' | int
'2.5' | float ~ 'x' | float ~ n | float ~ '1e3' | float ~ nothing | float(1)
f | round ~ 3.5 | round ~ 2.675 | round(2) ~ 7 | round ~ 2.1 | round(0, 'ceil') ~ -2.15 | round(1, 'floor')
m | abs ~ -2.5 | abs ~ f | abs
'x' | abs
'a\\nb' | indent ~ 'a\\n\\nb' | indent(2, true) ~ 'a\\n\\nb' | indent(2, blank=true) ~ 'a\\nb' | indent('>>')
n | indent
numbers | length ~ u | length ~ 'x' | count ~ d | length
n | length
numbers | list ~ d | list ~ 'ab' | list
n | list
words | replace('a', 'b')
html | e ~ html | escape ~ 'a' | e
html | safe ~ html | safe + '<b>' ~ ('<b>' + html | safe) ~ html | safe ~ '<b>'
(html | safe).upper() + '&' ~ html | safe | string + '&'
n is number ~ f is number ~ t is number ~ s is number ~ n is integer ~ t is integer ~ f is float ~ t is boolean
s is string ~ nothing is none ~ d is mapping ~ s is mapping ~ numbers is sequence ~ d is sequence ~ n is sequence ~ missing is sequence
s is iterable ~ n is iterable ~ missing is iterable ~ d is iterable ~ (numbers | map('string')) is iterable ~ (numbers | map('string')) is sequence
n is odd ~ n is even ~ n is divisibleby 7 ~ n is divisibleby(2) ~ 4 is even
t is true ~ no is false ~ 1 is true ~ 0 is false ~ n is eq 7 ~ n is ne 7 ~ n is gt 3 ~ n is lessthan 3 ~ n is sameas 7 ~ n is in [7]
'abc' is lower ~ 'ABC' is upper ~ 'aB1' is lower ~ '1' is upper ~ 'ß1' is lower
s is not none ~ missing is undefined ~ not missing is defined
'upper' is filter ~ 'nope' is filter ~ 'odd' is test
range(3) | list ~ range(1, 4) | list ~ range(5, 0, -2) | list ~ range(3)[1] ~ range(4) | sum
range(1000000)
dict(a=1, b=2) ~ dict({'x': 1}, y=2) ~ dict([('p', 1)])
namespace(a=1).a
strftime_now('%Y-%m-%d %H:%M %A %j %d %b %Y')
strftime_now('')
raise_exception('no')
{'a': 1, 'b': {'c': [1, 2]}}['b'].c[1] ~ {1: 'x', 'y': 2}[1] ~ {true: 'x'}[1]
{[1]: 2}
'a' 'b' "c" ~ 'it\\'s' ~ "q\\"q" ~ '\\u00e9\\x41\\t|' ~ '\\d'
0.1 + 0.2 ~ 1.0 ~ 100000000000000000.0 ~ 1e16 ~ 123456789.125 ~ 0.0001 ~ 0.00001 ~ -0.0
1_000 ~ 1.5e3 ~ 1e5
9223372036854775807 + 0
-n ~ +n ~ - -n ~ -f ~ -t
-s
nested | map('last') | list ~ nested | map(attribute='1') | list ~ nested | map(attribute=0) | list
(t, no) == (true, false) ~ numbers == [3, 1, 2] ~ d == d ~ [1] == (1,)
s.nope ~ n.nope ~ numbers.nope
s.nope.more
n()
'a' if missing else 'b' if no else 'c'
[1, 2,] ~ (1, 2,) ~ {'a': 1,}
words | map('length') | sum ~ words | map('default', 'x') | join
none | default('x') ~ none | default('x', true)
'a' ~ 1 + 2 ~ 'b'
1 if t else 2 + 3
n | string | length + 1
s | trim | upper | replace('L', 'l') | length
""".strip().split("\n")

TEMPLATES = [
    "{% for x in numbers %}{{ loop.index }}/{{ loop.length }}:{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for x in numbers %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
    "{% for x in numbers if x > 1 %}{{ loop.index }}{{ x }}{{ loop.last }}{{ loop.length }};{% else %}none{% endfor %}",
    "{% for x in empty %}x{% else %}none{% endfor %}{% for x in missing %}x{% else %}none{% endfor %}",
    "{% for a, b in nested %}{{ a }}{{ b }}{% endfor %}{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, b in numbers %}{% endfor %}", "{% for x in n %}{% endfor %}", "{% for c in 'añ🙂' %}{{ c }}.{% endfor %}",
    "{% for k in d %}{{ k }},{% endfor %}{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in range(6) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in numbers %}{% for y in words %}{% if y == 'c' %}{% break %}{% endif %}{{ loop.index }}{{ y }}{% endfor %}|{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}{% for i in numbers %}{{ x }}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1, y=[]) %}{% for i in numbers %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.y }}{{ ns.z is defined }}",
    "{% set ns = namespace(done=false) %}{% for i in range(5) if not ns.done %}{{ i }}{% if i == 2 %}{% set ns.done = true %}{% endif %}{% endfor %}",
    "{% set ns = namespace(done=false) %}{% for i in range(5) if not ns.done %}{{ i }}{{ loop.last }}{% if i == 2 %}{% set ns.done = true %}{% endif %}{% endfor %}",
    "{% set s.x = 1 %}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}", "{% set (a, b) = nested[0] %}{{ a }}{{ b }}",
    "{% set x %}a{{ n }}b{% endset %}{{ x }}{{ x | length }}", "{% set x | upper | trim %} a{{ n }}b {% endset %}{{ x }}|",
    "{% set ns = namespace() %}{% set ns.x %}block{% endset %}{{ ns.x }}{{ ns['x'] }}",
    "{% if t %}{% set y = 1 %}{% endif %}{{ y }}{% if no %}{% set w = 1 %}{% endif %}{{ w is defined }}",
    "{% if no %}a{% elif z %}b{% elif n %}c{% else %}d{% endif %}{% if e %}x{% else %}y{% endif %}",
    "{% macro m(a, b=2, c=a) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=5, a=4) }}{{ m() }}{{ m(1) | length }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(q=2) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% set x = 1 %}{% macro m() %}{{ x }}{% set x = 5 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}{% set x = 2 %}{{ m() }}",
    "{% macro fact(k) %}{{ k * (fact(k - 1) | int) if k > 1 else 1 }}{% endmacro %}{{ fact(5) }}",
    "{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}body{{ x }}{% endcall %}",
    "{% for i in numbers %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}", "{% filter upper %}abc{{ s }}{% endfilter %}",
    "{% raw %}{{ x }}{% if %}{% endraw %}|", "{%- raw -%} {{ x }} {%- endraw -%} |", "a{# comment {{ x }} #}b{#- c -#} d",
    "{% generation %}a{{ n }}{% set q = 1 %}{% endgeneration %}{{ q is defined }}",
    "  {% if t %}\n  x\n  {% endif %}\n  y\n", "  {%- if t -%}\n  x\n  {%- endif -%}\n  y\n", "  {%+ if t %}\n  x\n  {%+ endif %}\n",
    "{% if t +%}\n x{% endif %}\n\n", "a \n {{- n -}} \n b", "a {{ n }}\n\nb\n", "x\r\n{% if t %}\r\ny\r\n{% endif %}\r\n",
    "{{ n }}\n{# c #}\n{{ n }}", "  {# c #}  \n z", "\t{% set x = 1 %}\t\nq", "a{% if t %} {% endif %} \n{% if t %}\n{% endif %}b",
    "{{ {'a': {'b': 1}}['a']['b'] }}{{ '}}' }}{{ '%}' }}", "{% set x = '{{' %}{{ x }}", "{ { % {", "{{ '{%' ~ '%}' }}",
    "{% set j = joiner(', ') %}{% for x in numbers %}{{ j() }}{{ x }}{% endfor %}",
    "{% for x in numbers %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% for x in people %}{{ loop.depth }}{% for y in numbers %}{{ loop.depth0 }}{% endfor %}{% endfor %}",
    "{% set g = numbers | map('string') %}{{ g | join }}{{ g | join }}{% if g %}yes{% endif %}",
    "{% if messages is not defined %}none{% endif %}{{ messages }}", "{% for m in people %}{{ m.name ~ (m.tags | default([]) | join) }}{% endfor %}",
    "{{- raise_exception('Roles must alternate') if n == 7 }}", "{% if s is string and s is not mapping %}a{% endif %}",
    "{% set x = namespace(a=numbers) %}{% set x.a = x.a + [9] %}{{ x.a }}{{ numbers }}",
    "{% set loop_messages = people[1:] %}{% for p in loop_messages %}{% set c = loop.index0 == 0 and p.name or '-' %}{{ c }}{% endfor %}",
    "{{ s }}{% if (n % 2 == 0) != (s == 'x') %}odd{% endif %}", "{% for p in people[::-1] %}{{ p.name }}{{ (people | length - 1) - loop.index0 }}{% endfor %}",
]


class february(datetime.datetime):
    @classmethod
    def now(cls):
        return cls(2025, 2, 1)


def main():
    chat_template_utils.datetime = february
    cases = []
    for template in TEMPLATES + ["{{ " + one + " }}" for one in EXPRESSIONS]:
        try:
            text = chat_template_utils._compile_jinja_template(template).render(**VARIABLES)
        except Exception:
            text = None
        cases.append({"template": template, "text": text})
    PLACE.write_text(json.dumps({"variables": VARIABLES, "cases": cases}, indent=0) + "\n")
    print(f"{len(cases)} cases, of which {sum(case['text'] is None for case in cases)} are refused")


if __name__ == "__main__":
    main()
