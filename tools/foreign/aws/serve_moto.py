"""
Prints the resource types of moto's CloudFormation, then serves moto until its standard input ends.
What it does otherwise than AWS, so that no deployment could be tried, is mended here.
"""

import json
import os
import sys
from threading import Lock, Thread

from moto.cloudformation.exceptions import CloudFormationError
from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.parsing import get_model_map
from moto.cloudformation.responses import CloudFormationResponse
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import main


class ChangeSetNotFound(CloudFormationError):
    code = "ChangeSetNotFound"


get_param = CloudFormationResponse._get_param


def get_param_of_stack(self, name, default=None):
    """Returns the id of the change set of that stack: moto looks for the name among those of every stack."""
    value = get_param(self, name, default)
    action = self._get_action()
    if name != "ChangeSetName" or action == "CreateChangeSet":
        return value
    stack = get_param(self, "StackName")
    found = [
        id
        for id, change_set in self.cloudformation_backend.change_sets.items()
        if value in (id, change_set.change_set_name)
        and stack in (None, change_set.stack.name, change_set.stack.stack_id)
    ]
    if not found and action != "DeleteChangeSet":
        raise ChangeSetNotFound(f"ChangeSet [{value}] does not exist")
    return found[-1] if found else value


def delete_change_set(self, change_set_name):
    """Deletes a change set, or nothing: moto returns 500 where AWS has nothing to delete."""
    self.change_sets.pop(change_set_name, None)


CloudFormationResponse._get_param = get_param_of_stack
CloudFormationBackend.delete_change_set = delete_change_set

lock = Lock()
dispatch = DomainDispatcherApplication.__call__


def one_at_a_time(self, environ, start_response):
    """Serves one request at a time: a transaction of moto copies every table, and if it fails, undoes what others wrote."""
    with lock:
        return dispatch(self, environ, start_response)


DomainDispatcherApplication.__call__ = one_at_a_time


def end_with_input():
    sys.stdin.read()
    os._exit(0)


Thread(target=end_with_input, daemon=True).start()
print(json.dumps([*get_model_map()]), flush=True)
main(sys.argv[1:])
