"""The endpoints and the page, as an ASGI application.

It serves this machine only: a request under another host name, or from a page of another origin, is refused.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from windtunnel.simulator.chat.parts import Json, json_text
from windtunnel.simulator.chat.requests import (
    Answer,
    GetSnapshot,
    PutHistory,
    RawChunk,
    Request,
    StreamClosed,
)
from windtunnel.simulator.chat.window import Cursor
from windtunnel.simulator.serving.bodies import (
    MAX_BODY,
    Refused,
    answer_json,
    choice_in,
    command_of,
    cursor_of,
    message_of,
    object_of,
)
from windtunnel.simulator.serving.chaos import Chaos
from windtunnel.simulator.serving.frames import RUN, frame_of, is_last
from windtunnel.simulator.serving.service import Service, TooManyReaders
from windtunnel.simulator.serving.sessionlog import LogRefused
from windtunnel.simulator.serving.workflow import Workflow
from windtunnel.simulator.store.interface import StoreRefused

HEARTBEAT_S: Final = 2.0
"""A stream that is quiet for so long says where it is, so that a lost last event is noticed."""

LOCAL_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")

PAGE: Final = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/merging.js": ("merging.js", "text/javascript"),
    "/reducer.js": ("reducer.js", "text/javascript"),
    "/tab.js": ("tab.js", "text/javascript"),
    "/page.js": ("page.js", "text/javascript"),
}
"""The files of the page, by path."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Served:
    """What the endpoints speak for."""

    service: Service
    workflow: Workflow
    chaos: Chaos | None = None
    heartbeat_s: float = HEARTBEAT_S


class Hangup(Response):
    """No answer: the connection breaks off."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Promise a byte and never send it."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})


def told(status: int, data: Json) -> Response:
    """An answer in JSON."""
    return Response(json_text(data), status, HEADERS, "application/json")


Act = Callable[[Served, Asked, bytes], Awaitable[Response]]


def endpoint(served: Served, act: Act) -> Callable[[Asked], Awaitable[Response]]:
    """An endpoint that judges its request first and turns refusals into answers; with chaos, a bad wire."""

    async def once(asked: Asked, body: bytes) -> Response:
        try:
            guard(asked)
            return await act(served, asked, body)
        except Refused as refused:
            return told(refused.status, refused.json())
        except LogRefused as problem:
            return told(503, {"code": "log_refused", "error": str(problem)})
        except StoreRefused as problem:
            return told(503, {"code": "store_refused", "error": str(problem)})

    async def answer(asked: Asked) -> Response:
        try:
            body = await body_of(asked)
        except Refused as refused:
            return told(refused.status, refused.json())
        if served.chaos is None:
            return await once(asked, body)
        fate = served.chaos.request()
        if fate == "lost":
            return Hangup()
        if fate == "late":
            await served.chaos.delay()
        response = await once(asked, body)
        if fate == "twice":
            response = await once(asked, body)
        return Hangup() if fate == "unanswered" else response

    return answer


async def body_of(asked: Asked) -> bytes:
    """The body, as long as it is not too long. Raises Refused."""
    body = b""
    async for piece in asked.stream():
        body += piece
        if len(body) > MAX_BODY:
            raise Refused(413, "too_large", f"a request has at most {MAX_BODY:,} bytes")
    return body


def guard(asked: Asked) -> None:
    """Refuse who is not a page of ours on this machine. Raises Refused."""
    host = asked.headers.get("host", "")
    if host.rpartition(":")[0] not in LOCAL_HOSTS and host not in LOCAL_HOSTS:
        raise Refused(403, "foreign_host", "this server answers on this machine only")
    origin = asked.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise Refused(403, "foreign_origin", "a page of another origin may not ask")


def session_in(served: Served, asked: Asked) -> str:
    """The session that is asked for. Raises Refused."""
    session = str(asked.path_params["session"])
    if session != served.service.session:
        raise Refused(404, "no_session", f"the only session here is {served.service.session}")
    return session


def answered(answer: Answer) -> Response:
    """The answer of the host."""
    return told(answer.status, answer_json(answer))


async def ask(served: Served, request: Request) -> Response:
    """Ask the host."""
    return answered(await served.service.request(request))


async def snapshot(served: Served, asked: Asked, body: bytes) -> Response:
    """The canonical history and its position, of one cut."""
    return await ask(served, GetSnapshot(served.service.name(), session_in(served, asked)))


async def follow_up(served: Served, asked: Asked, body: bytes) -> Response:
    """A message of the person."""
    session = session_in(served, asked)
    return await ask(served, message_of(served.service.name(), session, object_of(body)))


async def command(served: Served, asked: Asked, body: bytes) -> Response:
    """A wish of the person."""
    session = session_in(served, asked)
    return await ask(served, command_of(served.service.name(), session, object_of(body)))


async def history(served: Served, asked: Asked, body: bytes) -> Response:
    """An old client's wish to store its own history."""
    return await ask(served, PutHistory(served.service.name(), session_in(served, asked)))


async def run(served: Served, asked: Asked, body: bytes) -> Response:
    """How the workflow stands, after what is wished of it."""
    if asked.method == "POST":
        data = object_of(body)
        served.workflow.command(choice_in(data, "what", ("start", "release", "cancel", "answer")), data)
    return told(200, served.workflow.status())


async def stream(served: Served, asked: Asked, body: bytes) -> Response:
    """The events after a cursor, and all that follow. The cursor is `Last-Event-ID`, or `?after=`."""
    session_in(served, asked)
    cursor = cursor_of(asked.headers.get("last-event-id") or asked.query_params.get("after", "1.0"))
    frames = frames_of(served, cursor)
    if served.chaos is not None:
        frames = served.chaos.disturb(frames)
    headers = HEADERS | {"X-Accel-Buffering": "no"}
    return StreamingResponse(frames, headers=headers, media_type="text/event-stream")


async def frames_of(served: Served, cursor: Cursor) -> AsyncGenerator[str, None]:
    """The frames of one stream, to its end; each counts as taken once the connection took it.

    The stream is opened with the first frame, so one that nobody reads is never open.
    """
    service = served.service
    try:
        reader = service.follow(cursor)
    except TooManyReaders:
        yield frame_of(StreamClosed("too_many_readers"))
        return
    try:
        yield frame_of(RawChunk(RUN, json_text(served.workflow.status())))
        while True:
            message = await reader.next(served.heartbeat_s)
            yield frame_of(service.heartbeat() if message is None else message)
            if message is not None:
                service.sent(reader)
                if is_last(message):
                    return
    finally:
        service.leave(reader)


async def page(served: Served, asked: Asked, body: bytes) -> Response:
    """A file of the page."""
    name, kind = PAGE[asked.url.path]
    text = files("windtunnel.simulator.serving").joinpath(name).read_text(encoding="utf-8")
    return Response(text, 200, HEADERS, kind)


def create_app(served: Served) -> Starlette:
    """The application."""

    def route(path: str, act: Act, *methods: str) -> Route:
        return Route(path, endpoint(served, act), methods=list(methods))

    quiet = Served(served.service, served.workflow)
    routes = [Route(path, endpoint(quiet, page), methods=["GET"]) for path in PAGE]
    session = "/api/sessions/{session}"
    routes += [
        route(f"{session}/snapshot", snapshot, "GET"),
        route(f"{session}/stream", stream, "GET"),
        route(f"{session}/followup", follow_up, "POST"),
        route(f"{session}/command", command, "POST"),
        route(f"{session}/messages", history, "POST", "PUT"),
        route("/api/run", run, "GET", "POST"),
    ]
    return Starlette(routes=routes)
