"""The http step: one request; redirects are answers, not followed."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import httpx

from core.flows.expressions import render_all, render_text
from core.flows.steps import Http
from core.runtime.context import OUTPUT_LIMIT_BYTES, StepContext, StepError, StepFailed, StepResult
from core.runtime.environment import named_values
from core.runtime.secrets import mask

DEFAULT_TIMEOUT_S = 60.0
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_WORTH_RETRYING = frozenset({408, 425, 429})


async def run(context: StepContext, http: Http) -> StepResult:
    """Send the request; output is {status, headers, body}, the body parsed where it is JSON."""
    request = asyncio.create_task(_send(context, http))
    cancelled = asyncio.create_task(context.cancel.wait())
    try:
        timeout_s = DEFAULT_TIMEOUT_S if context.timeout_s is None else context.timeout_s
        await asyncio.wait({request, cancelled}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if request.done():
            return request.result()
        if cancelled.done():
            return StepResult(error=StepError("cancelled", "the request was cancelled", retryable=False))
        return StepResult(error=StepError("timeout", f"no complete answer within {timeout_s:g} s"))
    finally:
        for task in (request, cancelled):
            task.cancel()
        await asyncio.gather(request, cancelled, return_exceptions=True)


async def _send(context: StepContext, http: Http) -> StepResult:
    url = render_text(http.url, context.values)
    headers = _headers(context, http)
    content, headers = _content(context, http, headers)
    await context.log.note(f"{http.method} {url}")
    verify: Any = _trust() if url.startswith("https:") else False
    try:
        async with (
            httpx.AsyncClient(verify=verify, timeout=None, follow_redirects=False) as client,  # noqa: S113 - the whole request has one timeout, above
            client.stream(http.method, url, headers=headers, content=content) as response,
        ):
            body, cut = await _body(response)
            return await _result(context, http, response, body, cut=cut)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        what = str(error) or type(error).__name__
        return StepResult(error=StepError("http_failed", mask(f"{http.method} {url}: {what}", context.mask)))


def _headers(context: StepContext, http: Http) -> dict[str, str]:
    headers = named_values(context, http.headers)
    if http.method in _UNSAFE and "idempotency-key" not in {name.lower() for name in headers}:
        headers["Idempotency-Key"] = context.idempotency_key
    return headers


def _content(context: StepContext, http: Http, headers: dict[str, str]) -> tuple[bytes | None, dict[str, str]]:
    if http.json is not None:
        text = json.dumps(render_all(http.json, context.values), ensure_ascii=False)
        return text.encode(), {"Content-Type": "application/json", **headers}
    if http.body is not None:
        return render_text(http.body, context.values).encode(), headers
    return None, headers


async def _body(response: httpx.Response) -> tuple[bytes, bool]:
    """Return the body up to the limit of an output, and whether it was cut there."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > OUTPUT_LIMIT_BYTES:
            return body[:OUTPUT_LIMIT_BYTES], True
    return body, False


async def _result(context: StepContext, http: Http, response: httpx.Response, body: bytes, *, cut: bool) -> StepResult:
    status = response.status_code
    await context.log.note(f"answered {status} {response.reason_phrase}, {len(body):,} bytes{' (cut)' if cut else ''}")
    if status not in http.expect if http.expect else not 200 <= status < 300:
        text = mask(body[:200].decode(errors="replace"), context.mask)
        retryable = status >= 500 or status in _WORTH_RETRYING
        error = StepError(
            "http_status", f"the server answered {status} {response.reason_phrase}: {text}".rstrip(": "), retryable
        )
        return StepResult(error=error)
    value = _parsed(context, response, body, cut=cut)
    headers = {name: mask(text, context.mask) for name, text in response.headers.items() if name != "set-cookie"}
    output = {"status": status, "headers": headers, "body": value}
    no_work = isinstance(value, Mapping) and value.get("noWork") is True
    return StepResult(output=output, no_work=no_work)


def _parsed(context: StepContext, response: httpx.Response, body: bytes, *, cut: bool) -> Any:
    text = mask(body.decode(response.encoding or "utf-8", errors="replace"), context.mask)
    if "json" not in response.headers.get("content-type", ""):
        return text
    if cut:
        message = f"the answer is larger than {OUTPUT_LIMIT_BYTES:,} bytes"
        raise StepFailed("output_too_large", message, retryable=False)
    try:
        return json.loads(text) if text.strip() else None
    except ValueError as error:
        raise StepFailed("output_invalid", f"the answer says that it is JSON but is not: {error}") from None


@lru_cache(maxsize=1)
def _trust() -> ssl.SSLContext:
    return httpx.create_ssl_context()
