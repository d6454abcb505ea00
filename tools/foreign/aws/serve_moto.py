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
from moto.core.authorization import ActionAuthenticatorMixin
from moto.iam.access_control import IAMRequestBase
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

authorize = ActionAuthenticatorMixin._authenticate_and_authorize_action
check = IAMRequestBase.check_action_permitted
operator = f"Credential={os.environ['OPERATOR_KEY']}/"


def authorize_roles(self, request, resource="*"):
    """Authorizes every caller except the operator, who sets up what moto would authorize with."""
    if operator not in self.headers.get("Authorization", ""):
        authorize(self, request, resource)


def needs_of(request, resource):
    """Returns what AWS authorizes: moto takes the operation for the action, and knows the resources of S3 and SQS only."""
    arn = f"arn:aws:{request._service}:{request._region}:{request.account_id}:"
    body = json.loads(request._body) if request._service in ("dynamodb", "ssm") else {}
    writes = [write for item in body.get("TransactItems", []) for write in item.items()]
    return (
        [(f"dynamodb:{verb}Item", f"{arn}table/{item['TableName']}") for verb, item in writes]
        or [(request._action, f"{arn}parameter{name}") for name in body.get("Names", [])]
        or [(request._action, f"{arn}table/{body['TableName']}" if "TableName" in body else resource)]
    )


def check_each(self, resource):
    for self._action, each in needs_of(self, resource):
        check(self, each)


ActionAuthenticatorMixin._authenticate_and_authorize_action = authorize_roles
IAMRequestBase.check_action_permitted = check_each

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
