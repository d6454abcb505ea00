"""Runs each Python snippet of a file on its own, and prints a line for each one that fails."""

import json
import sys

with open(sys.argv[1]) as file:
    given = json.load(file)
for program in given["programs"]:
    for code in program["calls"]:
        names = dict(given["values"])
        try:
            exec(program["setup"] + code, names)
            assert names["answer"] is not None
        except Exception as error:
            print(f"python snippet: {code.strip().splitlines()[0]}: {error!r}")
