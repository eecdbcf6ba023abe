# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A model API on loopback whose model is a function: it reads the conversation and says what comes next.

Speaks enough of the Messages API (streamed) for agent programs to work against it.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List

Request = Dict[str, Any]
Block = Dict[str, Any]
# Blocks: {"text": …} or {"tool": name, "input": {…}}.
Model = Callable[[Request], List[Block]]


class FakeMessages:
    def __init__(self, model: Model) -> None:
        self.requests: List[Request] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                    self.send_error(404)
                    return
                outer.requests.append(request)
                # A request without tools is housekeeping of the agent program (a title, say).
                blocks = model(request) if request.get("tools") else [{"text": "a title"}]
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for kind, data in stream(len(outer.requests), request, blocks):
                    self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def stream(number: int, request: Request, blocks: List[Block]) -> List[Any]:
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    events: List[Any] = [("message_start", {"message": {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model"), "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage}})]
    for index, block in enumerate(blocks):
        if "tool" in block:
            start = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": block["tool"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        events += [("content_block_start", {"index": index, "content_block": start}),
                   ("content_block_delta", {"index": index, "delta": delta}),
                   ("content_block_stop", {"index": index})]
    reason = "tool_use" if any("tool" in block for block in blocks) else "end_turn"
    return events + [("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None},
                                        "usage": {"output_tokens": 5}}), ("message_stop", {})]


def texts(request: Request) -> List[str]:
    """Everything the model has been shown, oldest first: messages and the results of tools."""
    found: List[str] = []
    for message in request["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text":
                found.append(block["text"])
            elif block["type"] == "tool_result":
                inner = block["content"]
                found += [inner] if isinstance(inner, str) else [part.get("text", "") for part in inner]
    return found


def tool_results(request: Request) -> List[str]:
    blocks = [block for message in request["messages"] if isinstance(message["content"], list)
              for block in message["content"] if block["type"] == "tool_result"]
    return [block["content"] if isinstance(block["content"], str)
            else "".join(part.get("text", "") for part in block["content"]) for block in blocks]
