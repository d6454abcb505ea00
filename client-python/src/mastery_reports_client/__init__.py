"""Problems, tokens, retries, pages and adaptive runs, over the generated packages `mastery`, `reports` and `sandbox` of this package."""

import inspect
import itertools
import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any

import httpx

MAX_STALE_TAGS = 5
# Seconds without a byte, if the client has no limit of its own: the generated one waits without end.
TIMEOUT = 30.0
# Seconds that the retries of a request wait in total: a rate limit asks for a minute.
MAX_WAITING = 70.0


class ProblemError(Exception):
    """The service rejected a request, or something in between did. `problem` is the problem document, empty if there is none."""

    def __init__(self, response: Any) -> None:
        try:
            document = json.loads(response.content)
        except ValueError:
            document = {}
        self.problem: dict[str, Any] = document if isinstance(document, dict) else {}
        self.status = int(response.status_code)
        self.code: str = self.problem.get("code") or str(self.problem.get("type", "")).rsplit("/", 1)[-1]
        self.retryable = bool(self.problem.get("retryable", self.status == 429 or self.status >= 500))
        self.retry_after = _retry_after(response)
        super().__init__(f"{self.status} {self.code}: {self.problem.get('detail', 'no problem document')}")


class RunStalledError(Exception):
    """An adaptive run had no news for longer than `patience`. `run` is its last state: its continuation token resumes it."""

    def __init__(self, run: Any) -> None:
        self.run = run
        super().__init__(f"the run is {run.status} and had no news (receipt {run.receipt_id})")


class TokenAuth(httpx.Auth):
    """Sends the token of a function with each request, as `Client(address, httpx_args={"auth": TokenAuth(function)})`. The function is called before the
    first request, and once more when the service returns 401; only another token is then tried."""

    def __init__(self, token: Callable[[], str]) -> None:
        self._function = token
        self._token: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._token is None:
            self._token = self._function()
        sent = self._token
        request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if response.status_code != 401:
            return
        # Another thread may have renewed it.
        if self._token == sent:
            self._token = self._function()
        if self._token != sent:
            request.headers["Authorization"] = f"Bearer {self._token}"
            yield request


class Intent:
    """A request that is meant once. After a failure, `send` again: it sends the same request under the same `idempotency_key`, so nothing is done twice. To
    do the same once more, create another intent."""

    def __init__(self, operation: ModuleType, *, client: Any, idempotency_key: str | None = None, **arguments: Any) -> None:
        self.idempotency_key: str | None = None
        if "idempotency_key" in inspect.signature(operation.sync_detailed).parameters:
            self.idempotency_key = arguments["idempotency_key"] = idempotency_key or str(uuid.uuid4())
        self._operation, self._client, self._request = operation, client, operation._get_kwargs(**arguments)
        if client.get_httpx_client().timeout == httpx.Timeout(None):
            self._request["timeout"] = TIMEOUT

    def send(
        self, *, max_retries: int = 4, max_waiting: float = MAX_WAITING, sleep: Callable[[float], None] = time.sleep
    ) -> Any:
        """Returns the successful response. Repeats the request after a retryable problem or a network failure, not before `Retry-After`, and raises the last
        one. Gives up rather than wait for more than `max_waiting` seconds in total."""
        waited = 0.0
        for attempt in itertools.count():
            wait = random.random() * 0.5 * 2**attempt
            try:
                # Not `sync_detailed`, which would fail at a problem that is not the service's.
                response = self._client.get_httpx_client().request(**self._request)
                if response.is_success:
                    return self._operation._build_response(client=self._client, response=response)
                raise ProblemError(response)
            except (ProblemError, httpx.TransportError) as error:
                if isinstance(error, ProblemError):
                    # The random time comes after it: callers that one limit held back must not return together.
                    wait += error.retry_after or 0
                waited += wait
                if attempt == max_retries or waited > max_waiting or not _may_repeat(error):
                    raise
            sleep(wait)


def call(
    operation: ModuleType,
    *,
    max_retries: int = 4,
    max_waiting: float = MAX_WAITING,
    sleep: Callable[[float], None] = time.sleep,
    **arguments: Any,
) -> Any:
    """Sends an operation, a module of a generated `api`, as one intent and returns its successful response."""
    return Intent(operation, **arguments).send(max_retries=max_retries, max_waiting=max_waiting, sleep=sleep)


def _may_repeat(error: ProblemError | httpx.TransportError) -> bool:
    if isinstance(error, httpx.TransportError):
        return True
    # A stale tag stays stale. A finalization that no owner will accept has no `Retry-After`: the run has to be inspected first.
    if error.status == 412 or (error.code == "finalization-incomplete" and error.retry_after is None):
        return False
    return error.retryable


def pages(operation: ModuleType, **arguments: Any) -> Iterator[Any]:
    """Iterates over the pages of a list. With a `cursor` it continues from there; a cursor is valid for one hour."""
    while True:
        page = call(operation, **arguments).parsed
        yield page
        if page.next_cursor is None:
            return
        arguments["cursor"] = page.next_cursor


def run_adaptive(
    client: Any,
    start: Any,
    play: Callable[[Any], None],
    *,
    continuation_token: str | None = None,
    idempotency_key: str | None = None,
    on_state: Callable[[Any], None] = lambda run: None,
    patience: float = 120,
    sleep: Callable[[float], None] = time.sleep,
) -> Any:
    """Takes an adaptive run to its end: `play` delivers each offered item and returns once the attempt is submitted to QTI. Store the `continuation_token`
    of what `on_state` is given, and pass it to resume the run after a restart. Until there is one, the same `idempotency_key` starts the same run."""
    from .mastery.api.adaptive_runs import inspect_adaptive_run, start_adaptive_run
    from .mastery.models import ContinuationRequest

    if continuation_token is None:
        response = call(start_adaptive_run, client=client, body=start, idempotency_key=idempotency_key, sleep=sleep)
    else:
        response = call(inspect_adaptive_run, client=client, body=ContinuationRequest(continuation_token), sleep=sleep)
    # The offer of a resumed run may have been answered: an advance shows it.
    is_answered = continuation_token is not None
    played, waited, wait = None, 0.0, 0.5
    while True:
        run = response.parsed
        on_state(run)
        if run.status == "completed":
            return run
        if is_answered:
            is_answered = False
        elif run.offered_item and _session(run) != played and not _waits_for_qti(run):
            play(run.offered_item)
            played = _session(run)
        elif waited >= patience:
            raise RunStalledError(run)
        else:
            pause = max(wait, _retry_after(response) or 0)
            sleep(pause)
            waited, wait = waited + pause, min(2 * wait, 10)
        response = _advance(client, ContinuationRequest(run.continuation_token), sleep)
        if (response.parsed.status, _session(response.parsed)) != (run.status, _session(run)):
            waited, wait = 0.0, 0.5


def _advance(client: Any, body: Any, sleep: Callable[[float], None]) -> Any:
    """Inspects, then advances with that response's entity tag; again after a stale tag, and once after a conflict or an incomplete finalization. If
    nothing has changed since the inspection before a 412, it takes the `currentEtag` of the 412: a proxy that compresses changes the header, not the body."""
    from .mastery.api.adaptive_runs import advance_adaptive_run, inspect_adaptive_run

    stale = conflicts = 0
    before = current_etag = None
    while True:
        inspected = call(inspect_adaptive_run, client=client, body=body, sleep=sleep)
        if inspected.parsed.status == "completed" or _waits_for_qti(inspected.parsed):
            return inspected
        try:
            is_as_before = before is not None and _shown(before) == _shown(inspected.parsed)
            etag = current_etag if is_as_before and current_etag else inspected.headers["ETag"]
            return call(advance_adaptive_run, client=client, body=body, if_match=etag, sleep=sleep)
        except ProblemError as error:
            before, current_etag = inspected.parsed, error.problem.get("currentEtag")
            if error.status == 412 and stale < MAX_STALE_TAGS:
                stale += 1
            elif error.code in ("stream-conflict", "finalization-incomplete") and conflicts == 0:
                conflicts += 1
            else:
                raise


def _session(run: Any) -> str | None:
    return run.offered_item.delivery_session_id if run.offered_item else None


def _shown(run: Any) -> Any:
    """Returns what changes with the run: its state, its offered item and its classifications."""
    return run.status, _session(run), [classified.to_dict() for classified in run.kc_classifications]


def _waits_for_qti(run: Any) -> bool:
    return bool(run.waiting_for) and run.waiting_for.service == "qti"


def _retry_after(response: Any) -> float | None:
    """Returns the seconds of `Retry-After`, a number or a date; None if there is none or it is neither."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
