#!/usr/bin/env python3
"""The cases: tiny random models, one for each thing that a family or a config can ask for.

A case's twists are wrong readings of it, whose numbers must differ from the right ones. Run as a script,
this prints the README's table.
"""

import cases_bert
import cases_gemma
import cases_gpt
import cases_like_llama
import cases_llama

CASES = [
    *cases_gpt.CASES,
    *cases_llama.CASES,
    *cases_like_llama.CASES,
    *cases_gemma.CASES,
    *cases_bert.CASES,
]

if __name__ == "__main__":
    print("| case | type | tokens | what it covers |\n| --- | --- | --- | --- |")
    for case in CASES:
        print(f"| `{case.name}` | {case.dtype} | {case.n} | {case.covers} |")
