"""Tests of the hand-written part over the generated one, with answers that the OpenAPI documents have as examples."""

import json
from pathlib import Path

import httpx
import pytest

from mastery_reports_client import ProblemError, RunStalledError, call, pages, run_adaptive
from mastery_reports_client.mastery.api.selection_policies import read_selection_policy
from mastery_reports_client.mastery.client import AuthenticatedClient
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
        self.answers, self.requests, self.waits = list(answers), [], []
        transport = httpx.MockTransport(self.answer)
        self.client = AuthenticatedClient("http://service", "token", httpx_args={"transport": transport})

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
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
    assert len(service.waits) == 3 and service.waits[0] >= 7


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
