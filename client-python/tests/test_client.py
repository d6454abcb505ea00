"""Tests of the hand-written part over the generated one, with answers that the OpenAPI documents have as examples."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest

from mastery_reports_client import Intent, ProblemError, RunStalledError, TokenAuth, call, pages, run_adaptive
from mastery_reports_client.mastery.api.selection_policies import read_selection_policy
from mastery_reports_client.mastery.client import AuthenticatedClient, Client
from mastery_reports_client.mastery.models import StartAdaptiveRunRequest
from mastery_reports_client.reports.api.attempt_reports import materialize_attempt_report
from mastery_reports_client.reports.api.candidates import list_candidate_reports
from mastery_reports_client.reports.models import MaterializeRequest

DOCUMENTS = Path(__file__).parents[2] / "docs" / "openapi"


def example(service: str, path: str, method: str, status: str) -> dict:
    document = json.loads((DOCUMENTS / f"{service}.json").read_text())
    return document["paths"][path][method]["responses"][status]["content"]["application/json"]["example"]


POLICY = example("mastery", "/v1/selection-policies/{policyId}", "get", "200")
OPERATION = example("reports", "/v1/attempt-reports:materialize", "post", "200")
PAGE = example("reports", "/v1/candidates/{candidateSourcedId}/attempt-reports", "get", "200")
STARTED = example("mastery", "/v1/adaptive-runs", "post", "201")
PROBLEM = {"type": "https://x/problems/p", "title": "t", "status": 503, "detail": "d", "instance": "urn:x", "code": "p"}
PROBLEM |= {"requestId": "r", "retryable": True}


class Service:
    """Answers each request with the next of its answers, and keeps the requests and the waits."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers, self.requests, self.tokens, self.waits = list(answers), [], [], []
        transport = httpx.MockTransport(self.answer)
        self.client = AuthenticatedClient("http://service", "token", httpx_args={"transport": transport})

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        # Not read from the request later: a renewed token changes its headers.
        self.tokens.append(request.headers["Authorization"])
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if request.url.path == "/v1/adaptive-runs":
            answer.status_code = 201
        return answer

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def problem(status: int = 503, headers: dict | None = None, **members: object) -> httpx.Response:
    return httpx.Response(status, json=PROBLEM | {"status": status} | members, headers=headers or {})


def run(session: str | None = "s1", status: str = "in_progress", **members: object) -> httpx.Response:
    item = session and {"deliverySessionId": session, "artifactVersionId": "a", "sequence": 1}
    answer = STARTED | {"status": status, "offeredItem": item, "continuationToken": f"{status}-{session}"} | members
    return httpx.Response(200, json=answer, headers={"ETag": '"e"'})


def test_repeats_a_retryable_problem_under_one_key_not_before_retry_after() -> None:
    service = Service(problem(headers={"Retry-After": "7"}), httpx.ReadTimeout("slow"), httpx.Response(502, text="<p>"),
                      httpx.Response(200, json=OPERATION))
    body = MaterializeRequest.from_dict({"attemptId": "a", "administrationId": "b"})
    response = call(materialize_attempt_report, client=service.client, body=body, sleep=service.sleep)
    assert response.parsed.to_dict().keys() == OPERATION.keys()
    assert len({request.headers["Idempotency-Key"] for request in service.requests}) == 1
    assert len(service.waits) == 3 and service.waits[0] > 7


@pytest.mark.parametrize("answer", [{"json": PROBLEM | {"status": 429}}, {"text": "<p>"}])
def test_waits_at_a_rate_limit_as_long_as_it_asks_and_then_not_for_the_same_time(answer: dict) -> None:
    def limited() -> httpx.Response:
        return httpx.Response(429, headers={"Retry-After": "60"}, **answer)

    waits = []
    for _ in range(3):
        service = Service(limited(), httpx.Response(200, json=POLICY))
        call(read_selection_policy, client=service.client, policy_id="p", sleep=service.sleep)
        waits += service.waits
    assert all(60 <= wait <= 60.5 for wait in waits) and len(set(waits)) == 3
    service = Service(limited())
    with pytest.raises(ProblemError) as raised:
        call(read_selection_policy, client=service.client, policy_id="p", sleep=service.sleep, max_waiting=3)
    assert (raised.value.status, raised.value.retry_after, service.waits) == (429, 60, [])


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [(format_datetime(datetime.now(UTC) + timedelta(seconds=60)), 30, 60), (format_datetime(datetime.now(UTC) - timedelta(1)), 0, 0)],
)
def test_reads_a_date_in_retry_after(text: str, least: float, most: float) -> None:
    assert least <= ProblemError(problem(headers={"Retry-After": text})).retry_after <= most


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}, {"Retry-After": "-1"}])
def test_tells_a_retry_after_that_it_cannot_read_from_zero(headers: dict) -> None:
    assert ProblemError(problem(headers=headers)).retry_after is None


def test_sends_an_intent_again_under_its_key_and_another_intent_under_another() -> None:
    body = MaterializeRequest.from_dict({"attemptId": "a", "administrationId": "b"})
    service = Service(*[httpx.ConnectError("down")] * 2, *[httpx.Response(200, json=OPERATION) for _ in range(2)])
    intent = Intent(materialize_attempt_report, client=service.client, body=body)
    with pytest.raises(httpx.ConnectError):
        intent.send(max_retries=1, sleep=service.sleep)
    intent.send()
    call(materialize_attempt_report, client=service.client, body=body)
    sent = [(request.headers["Idempotency-Key"], request.content) for request in service.requests]
    assert [each == (intent.idempotency_key, sent[0][1]) for each in sent] == [True, True, True, False]
    assert sent[3][1] == sent[0][1]


def test_starts_the_same_run_again_under_the_key_of_its_caller() -> None:
    service = Service(*[httpx.ConnectError("down")] * 5, run(None, "completed"))
    for attempt in range(2):
        try:
            run_adaptive(service.client, START, lambda item: None, idempotency_key="start-1", sleep=service.sleep)
        except httpx.ConnectError:
            assert attempt == 0
    assert [request.headers["Idempotency-Key"] for request in service.requests] == ["start-1"] * 6


def service_with_tokens(*answers: httpx.Response, tokens: list[str]) -> Service:
    service = Service(*answers)
    auth = TokenAuth(lambda: tokens.pop(0))
    service.client = Client("http://service", httpx_args={"transport": httpx.MockTransport(service.answer), "auth": auth})
    return service


def test_asks_for_a_token_once_and_once_more_after_a_401() -> None:
    refused = problem(401, retryable=False)
    answers = [httpx.Response(200, json=POLICY) for _ in range(3)]
    tokens = ["old", "new", "unused"]
    service = service_with_tokens(answers[0], refused, answers[1], answers[2], tokens=tokens)
    for _ in range(3):
        call(read_selection_policy, client=service.client, policy_id="p")
    assert (service.tokens, tokens) == (["Bearer old", "Bearer old", "Bearer new", "Bearer new"], ["unused"])


@pytest.mark.parametrize(("tokens", "requests"), [(["old", "new", "unused"], 2), (["same", "same", "unused"], 1)])
def test_raises_a_401_that_another_token_does_not_change(tokens: list[str], requests: int) -> None:
    service = service_with_tokens(*[problem(401, retryable=False) for _ in range(2)], tokens=tokens)
    with pytest.raises(ProblemError) as raised:
        call(read_selection_policy, client=service.client, policy_id="p")
    assert (raised.value.status, len(service.requests), tokens) == (401, requests, ["unused"])


def test_raises_a_problem_that_is_not_retryable_and_gives_up_after_the_last_retry() -> None:
    with pytest.raises(ProblemError) as raised:
        call(read_selection_policy, client=Service(problem(404, retryable=False)).client, policy_id="p")
    assert (raised.value.status, raised.value.code, raised.value.retryable) == (404, "p", False)
    service = Service(problem(), problem(), problem())
    with pytest.raises(ProblemError):
        call(read_selection_policy, client=service.client, policy_id="p", max_retries=1, sleep=service.sleep)
    assert len(service.requests) == 2


def test_reads_a_policy_with_members_and_values_that_it_does_not_know() -> None:
    service = Service(httpx.Response(200, json=POLICY | {"visibility": "later", "more": {"a": 1}}))
    policy = call(read_selection_policy, client=service.client, policy_id="p").parsed
    assert (policy.visibility, policy["more"]) == ("later", {"a": 1})


def test_goes_through_the_pages_of_a_list() -> None:
    more, last = PAGE | {"hasMore": True, "nextCursor": "c1"}, PAGE | {"hasMore": False, "nextCursor": None}
    service = Service(httpx.Response(200, json=more), httpx.Response(200, json=last))
    seen = list(pages(list_candidate_reports, client=service.client, candidate_sourced_id="a/b"))
    assert [page.next_cursor for page in seen] == ["c1", None]
    assert [request.url.params.get("cursor") for request in service.requests] == [None, "c1"]
    assert service.requests[0].url.raw_path.startswith(b"/v1/candidates/a%2Fb/")


def test_raises_an_expired_cursor_at_once_and_begins_anew_without_it() -> None:
    error = {"pointer": "/query/cursor", "code": "not-allowed", "message": "m"}
    expired = problem(400, retryable=False, type="https://x/problems/validation", code=None, fieldErrors=[error])
    more, last = PAGE | {"hasMore": True, "nextCursor": "c1"}, PAGE | {"hasMore": False, "nextCursor": None}
    service = Service(httpx.Response(200, json=more), expired, httpx.Response(200, json=last))
    seen = pages(list_candidate_reports, client=service.client, candidate_sourced_id="a", sleep=service.sleep)
    assert next(seen).next_cursor == "c1"
    with pytest.raises(ProblemError) as raised:
        next(seen)
    assert (raised.value.status, raised.value.code, service.waits) == (400, "validation", [])
    assert raised.value.problem["fieldErrors"] == [error]
    assert len(list(pages(list_candidate_reports, client=service.client, candidate_sourced_id="a"))) == 1
    assert [request.url.params.get("cursor") for request in service.requests] == [None, "c1", None]


def test_reads_a_row_whose_status_it_does_not_know() -> None:
    rows = [PAGE["data"][0] | {"status": "later", "more": 1}]
    service = Service(httpx.Response(200, json=PAGE | {"data": rows, "nextCursor": None}))
    [page] = pages(list_candidate_reports, client=service.client, candidate_sourced_id="a")
    [row] = page.data
    assert (row.status, row.attempt_id, row["more"]) == ("later", rows[0]["attemptId"], 1)


START = StartAdaptiveRunRequest("p", "c", "t", "b", "o", "owner_conformance")


def stale() -> httpx.Response:
    return problem(412, {"Retry-After": "1"}, code="stream-conflict", currentEtag='"e2"')


def test_plays_each_item_once_and_inspects_again_after_a_stale_tag() -> None:
    completed = run(None, "completed")
    service = Service(run("s1"), run("s1"), stale(), run("s1"), run("s2"), run("s2"), completed)
    played, tokens = [], []
    done = run_adaptive(service.client, START, lambda item: played.append(item.delivery_session_id),
                        on_state=lambda state: tokens.append(state.continuation_token), sleep=service.sleep)
    assert (done.status, played) == ("completed", ["s1", "s2"])
    assert tokens == ["in_progress-s1", "in_progress-s2", "completed-None"]
    assert [request.url.path.rsplit(":")[-1] for request in service.requests[1:5]] == ["inspect", "advance"] * 2
    assert [request.headers.get("If-Match") for request in service.requests[1:5]] == [None, '"e"', None, '"e2"']


def test_goes_on_through_a_state_that_it_does_not_know() -> None:
    service = Service(run("s1", "later"), run("s1", "later"), run(None, "completed"))
    states = []
    run_adaptive(service.client, START, lambda item: None, on_state=lambda state: states.append(state.status), sleep=service.sleep)
    assert states == ["later", "completed"]


def test_takes_the_tag_of_the_inspection_if_the_run_has_changed_since_a_stale_tag() -> None:
    service = Service(run("s1"), run("s1"), stale(), run("s2"), run(None, "completed"))
    run_adaptive(service.client, START, lambda item: None, sleep=service.sleep)
    assert service.requests[-1].headers["If-Match"] == '"e"'


def test_waits_for_a_silent_service_no_longer_than_thirty_seconds_unless_told() -> None:
    service = Service(httpx.Response(200, json=POLICY), httpx.Response(200, json=POLICY))
    call(read_selection_policy, client=service.client, policy_id="p")
    call(read_selection_policy, client=service.client.with_timeout(httpx.Timeout(5)), policy_id="p")
    assert [request.extensions["timeout"]["read"] for request in service.requests] == [30, 5]


def test_resumes_a_run_without_playing_an_answered_item_again() -> None:
    service = Service(run("s1"), run("s1"), run("s2"), run("s2"), run(None, "completed"))
    played = []
    run_adaptive(service.client, None, lambda item: played.append(item.delivery_session_id), continuation_token="t",
                 sleep=service.sleep)
    assert played == ["s2"]


def test_stalls_when_nothing_happens_for_longer_than_its_patience() -> None:
    waiting = {"waitingFor": {"service": "qti", "operation": "qti.read_candidate_runtime"}}
    service = Service(run("s1"), *[run("s1", **waiting) for _ in range(9)])
    with pytest.raises(RunStalledError):
        run_adaptive(service.client, START, lambda item: None, patience=3, sleep=service.sleep)
    assert sum(service.waits) >= 3


def test_raises_a_conflict_that_comes_twice() -> None:
    conflict = [problem(409, code="stream-conflict", retryable=False) for _ in range(2)]
    service = Service(run("s1"), run("s1"), conflict[0], run("s1"), conflict[1])
    with pytest.raises(ProblemError) as raised:
        run_adaptive(service.client, START, lambda item: None, sleep=service.sleep)
    assert raised.value.code == "stream-conflict"
