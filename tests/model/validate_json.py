#!/usr/bin/env python3
"""validate_json.py SCHEMA FILE...: checks documents against a JSON Schema.

Exit code 77 says that it was skipped because the jsonschema module is missing.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: needs the Python module jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for error in validator.iter_errors(document):
            failed = True
            print(f"{path}: {error.json_path}: {error.message[:200]}")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
