"""Makes each call of a file with the Python client, and writes what it made of the answers."""

import importlib
import json
import re
import sys
import typing

from mastery_reports_client import ProblemError, call


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()


def made(each: dict) -> dict:
    package = f"mastery_reports_client.{each['service']}"
    operation = importlib.import_module(f"{package}.api.{snake(each['tag'])}.{snake(each['operationID'])}")
    models = importlib.import_module(f"{package}.models")
    # The stack is on this machine: no proxy of the environment is between.
    options = {"httpx_args": {"trust_env": False}}
    client = importlib.import_module(f"{package}.client").AuthenticatedClient(each["url"], each["token"], **options)
    arguments = {snake(name): value for name, value in each["named"].items()}
    if "body" in each:
        arguments["body"] = typing.get_type_hints(operation.sync_detailed)["body"].from_dict(each["body"])
    try:
        response = call(operation, client=client, **arguments)
        return {"status": response.status_code, "answer": response.parsed.to_dict()}
    except ProblemError as error:
        problem = getattr(models, f"{each['service'].capitalize()}Problem").from_dict(error.problem)
        return {"status": error.status, "answer": problem.to_dict()}


with open(sys.argv[1]) as file, open(sys.argv[2], "w") as out:
    for each in json.load(file):
        try:
            result = made(each)
        except Exception as error:
            result = {"error": repr(error)}
        print(json.dumps({"key": each["key"], **result}), file=out)
