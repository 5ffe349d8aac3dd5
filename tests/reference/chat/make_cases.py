"""Makes cases.json: small templates of our own, and what jinja2 (3.1) renders, set up as transformers sets it up.

A case is [template, text] or, where jinja2 refuses it, [template, null]. `data` is what every one of them is given.
"""

import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.sandbox

DATA = {
    "messages": [
        {"role": "system", "content": " Be short.\n"},
        {"role": "user", "content": "Hi — «you» 🙂"},
        {"role": "assistant", "content": "<think>well</think>\nYes & 'no' \"so\""},
        {"role": "user", "content": ""},
    ],
    "n": 7, "x": 2.5, "word": "Straße", "none": None, "yes": True, "empty": [], "numbers": [3, 1, 2], "names": ["b", "A", "c"],
    "deep": {"b": [1, {"c": "d"}], "a": None, "t": True, "f": 1.0}, "lines": "one\n  two\n\nthree\n", "bos_token": "<s>",
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4 | 7 // 2 | -7 // 2 | 7 % 3 | -7 % 3 | 7 / 2 | 2 ** 3 | -n | +n | x * 2 | x // 1 | n % 2.5 | 1 == 1.0 | true == 1 | 'a' < 'b' | 1 < 2 < 3 | 3 > 2 > 2
'a' ~ 1 ~ none ~ 2.0 | 'ab' * 3 | [1] + [2, 3] | (1, 2) | (1,) | [] | {} | {'a': 1, 'b': [none, true]} | "it's" | ['it\'s', "a\"b", 'x\n'] | 1e3 | 10_000 | 0.1
n == 7 and x | n == 8 and x | n == 8 or 'or' | not n | not n == 7 | n in numbers | 3 in numbers | 'ra' in word | 'role' in messages[0] | 9 not in numbers
'yes' if n > 3 else 'no' | 'yes' if n > 9 | 'a' if none else 'b' if yes else 'c'
word[0] | word[-1] | word[1:3] | word[::-1] | word[-2:] | word[:-1] | word[::2] | word[5:1:-2] | numbers[1:] | numbers[-1] | numbers[::-1] | numbers[9] is defined | messages[1:][0].role
messages[0].role | messages[0]['role'] | messages[-1].content == '' | missing is defined | missing is undefined | missing | messages[0].missing is defined | deep.b[1].c | deep['b'][0]
word|length | messages|length | numbers|first | numbers|last | numbers|sort|join('-') | names|sort|join | names|sort(case_sensitive=true)|join | names|sort(reverse=true)|join(',') | numbers|sum
'  a b '|trim ~ '|' | messages[0].content|trim | missing|default('d') | ''|default('d') | ''|default('d', true) | none|default('d') | none|string | n|string ~ 'x' | '12'|int + 1 | 'x'|int | 'x'|int(5) | '1.5'|float | x|int | -3|abs
'aB c'|upper | 'aB c'|lower | 'aB c dE'|title | 'aB c'|capitalize | 'a-b-a'|replace('a', 'x') | 'a-b-a'|replace('a', 'x', 1) | [1, 2]|list | 'abc'|list | deep|list | 'abc'|reverse | numbers|reverse|list
deep|tojson | messages[2]|tojson | messages[1].content|tojson | deep|tojson(indent=2) | []|tojson | {}|tojson(indent=4) | "a\u0001\t\\ é"|tojson | deep|items|list | deep|dictsort|list | deep.items()|list | deep.keys()|list | deep.values()|list
messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|list | messages|rejectattr('role', 'equalto', 'user')|map(attribute='role')|join(',') | numbers|select('gt', 1)|list | numbers|reject('odd')|list | names|map('upper')|list
messages|selectattr('missing', 'undefined')|list|length | messages|selectattr('content')|list|length | messages|map(attribute='missing', default='-')|join | [1, 1, 2]|unique|list
n is number | word is string | deep is mapping | numbers is iterable | numbers is sequence | word is sequence | none is none | n is none | yes is true | yes is boolean | n is integer | x is float | n is odd | n is even | n is divisibleby(7) | n is divisibleby 2 | n is not string | n is eq 7 | 2 is in numbers | word is lower | 'AB' is upper | n is sameas 7
'a,b,,c'.split(',') | ' a  b '.split() | 'a b c'.split(' ', 1) | 'a.b.c'.rsplit('.', 1) | '</think>'.join(['a', 'b']) | 'xxaxx'.strip('x') | '\n a \n'.lstrip('\n') | 'ab'.rstrip('b') | 'abc'.startswith('ab') | 'abc'.endswith(('x', 'c')) | 'a-a'.replace('a', 'b') | 'abc'.find('c') | 'abcabc'.count('b') | 'ab'.upper() | 'a b'.title() | lines.splitlines()
deep.get('b')[0] | deep.get('z') | deep.get('z', 'no') | messages[2].content.split('</think>')[-1].lstrip('\n') | messages[0].get('role') | word.missing is defined | (n|string).isdigit()
range(3)|list | range(1, 6, 2)|list | range(3, 0, -1)|list | dict(a=1, b=2) | namespace(a=1).a | 'x' is defined and true | (messages|first).role | not missing | missing == none | missing == '' | none == false
'a' 'b' | [1, [2, (3,)]] | 'é'|length | '🙂x'[0] | "\x41\u00e9" | 1 if missing else 2 | numbers | deep | messages[0] | 'a\\b' | true | none | 3.0 | 1e100 | 'x' in deep | 'b' in deep
'%s'|e | '<a href="x">&\''|e | '<a>'|safe | 'a\nb'|indent | 'a\n\nb'|indent(2, true) | numbers|count | 'a'|d('b') | 5|string|length | ['a', 'b']|join(', ') | [{'a': 2}, {'a': 1}]|sort(attribute='a')|list | [1, 2, 3][1:]|length
1 + | (1 | [1, 2 | 'a' + 1 | 1 + none | missing.x | missing + 1 | missing() | n() | n | nofilter | n is notest | numbers|sum(' | 1 / 0 | 1 % 0 | none|length | 5|list | 'a' < 1 | {{ n }} | n..x
"""

TEMPLATES = [
    "a\n{% if yes %}\nb\n{% endif %}\nc\n", "a\n  {% if yes %}  \n b {%- endif %} \n c", "  {{ n }}  \n", "{#- c -#}  x {# d #}\ny", "a {%+ if yes %} b {% endif +%}\nc", "x\n\n", "x\r\ny\r\n",
    "   {# c #}\n   x", "{% set a = 1 %}\n{{ a }}", "{%- set a = 1 -%}  \n {{ a }}", "a {{- n -}} b", "a\n {{- n }}\nb", "{% raw %}{{ n }}{% endraw %}", "{%- raw -%} {% if %} {%- endraw -%} x", "{% if missing %}a{% elif n == 7 %}b{% else %}c{% endif %}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }} {% endfor %}", "{% for m in messages if m.role == 'user' %}{{ loop.index }}/{{ loop.length }}{{ m.content }};{% endfor %}",
    "{% for x in empty %}a{% else %}none{% endfor %}", "{% for a, b in deep.items() %}{{ a }}={{ b }};{% endfor %}", "{% for k, v in deep|dictsort %}{{ k }}{% endfor %}", "{% for c in 'ab' %}{{ c }}.{% endfor %}", "{% for k in deep %}{{ k }}{% endfor %}",
    "{% for i in range(5) %}{% if i == 3 %}{% break %}{% endif %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "{% for i in [1,2] %}{% for j in [3,4] %}{{ i }}{{ j }}{{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for m in numbers %}{{ loop.previtem if loop.previtem is defined else '-' }}{{ loop.nextitem|default('-') }} {% endfor %}", "{% for m in numbers %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% set a = 1 %}{% for i in [1, 2] %}{% set a = a + i %}{{ a }}{% endfor %}{{ a }}", "{% set ns = namespace(a=0) %}{% for i in numbers %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "{% if yes %}{% set a = 5 %}{% endif %}{{ a }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a %}x{{ n }}\n{% endset %}[{{ a }}]", "{% set a | upper %}x{{ n }}{% endset %}{{ a }}", "{% macro f(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=5, a=4) }} {{ f() }}", "{% macro f(a) %}{% if a > 0 %}{{ a }}{{ f(a - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro f() %}{{ n }}{{ later }}{% endmacro %}{% set later = 'x' %}{{ f() }}", "{% macro f(x) %}{% set n = 1 %}{{ n }}{% endmacro %}{{ f(2) }}{{ n }}", "{% filter upper %}a{{ word }}{% endfilter %}", "{% generation %}a{{ n }}{% endgeneration %}",
    "{% for i in [1, 2] %}{% generation %}{% set a = i %}{{ a }}{{ loop.last }}{% endgeneration %}{{ a is defined }};{% endfor %}", "{% set n = namespace(a=0) %}{% generation %}{% set n.a = 1 %}{% endgeneration %}{{ n.a }}", "{% for i in [1] %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}", "{% set self = 1 %}{{ self }}",
    "{% if messages|selectattr('role', 'eq', 'no') %}y{% else %}n{% endif %}", "{% set u = messages|selectattr('role', 'eq', 'user') %}{{ u|map(attribute='content')|join('/') }}{% for x in u %}[{{ x }}]{% endfor %}", "{{ messages|selectattr('role')|length }}", "{{ numbers|select('gt', 1) + [1] }}",
    "{% set g = messages|map(attribute='role') %}{{ 'user' in g }}{{ 'system' in g }}{{ g|list }}", "{% set g = numbers|select %}{{ g|first }}{{ g|first }}{{ g|list }}{{ g|first is defined }}", "{{ numbers|map('abs')|last }}", "{{ numbers|reverse|reverse|length }}", "{{ numbers|reverse|length }}",
    "{{ numbers|unique is sequence }}{{ numbers|unique is iterable }}{{ numbers|select is defined }}", "{{ deep|items|length }}", "{{ deep.items()|length }}", "{{ (numbers|reverse)[0] is defined }}", "{{ (numbers|reverse)[1:] }}", "{{ numbers|map('string')|map('replace', '1', 'x')|join }}", "{{ numbers|select|tojson }}",
    "{{ empty|reverse and 1 }}{{ empty|unique and 1 }}{{ empty|map('upper') and 1 }}{{ empty|list and 1 }}", "{% for x in numbers|select %}{{ loop.length }}{{ loop.last }}{% endfor %}", "{{ deep|reverse|list }}", "{{ numbers|reject('odd')|sum }}{{ numbers|select|sort }}", "{{ numbers|select == numbers|select }}",
    "{% set messages = messages[1:] %}{% for m in messages %}{{ m.role[0] }}{% endfor %}", "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}y{% else %}n{% endif %}{% endfor %}", "{{ messages[0].content.strip() + '\\n' }}|", "{% if messages[0]['role'] == 'system' and not none %}s{% endif %}",
    "{%- for m in messages %}\n    {%- if not loop.first %}\n        {{- '\\n' }}\n    {%- endif %}\n    {{- m.role }}\n{%- endfor %}", "{% for m in messages -%}\n  {{ m.role }}\n{%- endfor %}", "{{ '{{' }} {{ '%}' }}", "{% if 'a' in 'abc' and n is defined and n > 1 or missing %}t{% endif %}", "{{ messages | map(attribute='role') | list }}",
    "{{ (numbers | sort)[0] }}{{ numbers|length + 1 }}", "{{ 1 if yes }}{{ 1 if none }}", "{% set x = 'a' if yes else 'b' %}{{ x }}", "{% set d = {'a': {'b': 1}} %}{{ d.a.b }}{{ d['a']['b'] }}", "{{ messages[2].content.split('</think>')|last }}", "{% for m in messages|selectattr('role', 'eq', 'user') %}{{ loop.index }}{% endfor %}",
    "{% if %}", "{% for %}", "{% endif %}", "{% if yes %}", "{{ n", "{% set = 1 %}", "{% unknown %}", "{# x", "{% for a, b in numbers %}{% endfor %}", "{{ f(1) }}", "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "{% set n.a = 1 %}", "{{ 'a' ", "{{ n }} }}", "{% if yes %}{% endfor %}", "{% raw %}x",
]


def environment():
    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            call = self.call_method("_generated")
            return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

        def _generated(self, caller):
            return caller()

    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = tojson
    return made


def render(text):
    try:
        return environment().from_string(text).render(**DATA)
    except Exception:
        return None


if __name__ == "__main__":
    separate = [part.strip() for line in EXPRESSIONS.strip().splitlines() for part in line.split(" | ")]
    templates = ["{{ " + one + " }}" for one in separate] + TEMPLATES
    cases = [[one, render(one)] for one in templates]
    lines = ",\n  ".join(json.dumps(case, ensure_ascii=False) for case in cases)
    text = '{\n "data": ' + json.dumps(DATA, ensure_ascii=False) + ',\n "cases": [\n  ' + lines + "\n ]\n}\n"
    (pathlib.Path(__file__).parent / "cases.json").write_text(text)
    print(len(cases), "cases,", sum(one[1] is None for one in cases), "refused")
