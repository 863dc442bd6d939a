"""A server that speaks the chat completions protocol, knows the truth, and can misbehave.

Items are texts such as ``"3: any words"``: the number is the kind. What is asked is read from the prompt as
a model would: items between the fences, and the task at the end. ``faults`` has the share of calls that go
wrong, by sort. All calls are noted with what became of them, in memory or in a file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

ITEM = re.compile(r"<<<(DATA-[0-9a-f]+) item (\d+)\n(.*?)\n\1>>>", flags=re.DOTALL)
KEY = "sk-test-0123456789"


@dataclass
class Model:
    faults: dict[str, float] = field(default_factory=dict)
    delay: float = 0.0
    needs_key: bool = False
    takes_schema: bool = True
    log: str | None = None
    obeys: str = ""  # what items must say to be obeyed, with what the model then says
    says: str = ""
    seed: int = 0
    retry_after: str = "0.05"
    tokens: tuple[int, int] = (100, 5)
    calls: list = field(default_factory=list)
    contents: list = field(default_factory=list)  # what was asked, in its words
    in_flight: int = 0
    most_in_flight: int = 0

    def __post_init__(self):
        self.random = random.Random(self.seed)

    def note(self, outcome, texts):
        line = {"at": time.time(), "outcome": outcome, "texts": texts}
        self.calls.append(line)
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def fault(self):
        at = self.random.random()
        for name, share in self.faults.items():
            if at < share:
                return name
            at -= share
        return ""

    async def reply(self, headers, body):
        """Return the status, further headers, and the body of a reply; a body of None hangs up."""
        if self.needs_key and headers.get("authorization") != f"Bearer {KEY}":
            words = f"Incorrect API key provided: {headers.get('authorization', '')}"
            return 401, {}, json.dumps({"error": {"message": words}})
        if not self.takes_schema and body.get("response_format", {}).get("type") == "json_schema":
            return 400, {}, json.dumps({"error": {"message": "response_format is not supported"}})
        content = body["messages"][-1]["content"]
        if isinstance(content, list):
            content = "\n\n".join(part.get("text", "") for part in content)
        self.contents.append(content)
        items = [text for _, _, text in ITEM.findall(content)]
        fault = self.fault()
        self.note(fault or "answered", items)
        if fault == "429":
            return 429, {"Retry-After": self.retry_after}, '{"error": "slow down"}'
        if fault == "500":
            return 500, {}, "<html>oops</html>"
        if fault == "slow":
            await asyncio.sleep(5.0)
        await asyncio.sleep(self.delay)
        said = self.answer(items, content)
        if fault == "malformed":
            said = self.random.choice(
                [
                    "same",
                    '{"answers": ["SAME!"]}',
                    '{"answers": []}',
                    "Sure! " + said,
                    "",
                    said[:-2],
                ]
            )
        message = {"role": "assistant", "content": said}
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "length" if fault == "length" else "stop",
        }
        read, written = self.tokens
        usage = {"prompt_tokens": read, "completion_tokens": written}
        whole = json.dumps({"choices": [choice], "usage": usage})
        if fault == "cut":
            return 200, {}, whole[: len(whole) // 2] + "\0cut"
        if fault == "garbage":
            return 200, {}, "{]"
        return 200, {}, whole

    def answer(self, items, content):
        if self.obeys and any(self.obeys in text for text in items):
            return self.says
        kinds = [text.partition(":")[0] for text in items]
        if '{"name"' in content.rpartition(">>>")[2]:
            named = {"name": f"kind of {kinds[0]}", "definition": f"Its number is {kinds[0]}."}
            return json.dumps(named)
        if '{"pick"' in content.rpartition(">>>")[2]:
            picked = [n for n, kind in enumerate(kinds) if n and kind == kinds[0]]
            return json.dumps({"pick": picked[0] if picked else 0})
        words = [
            "unsure" if "?" in (kind, kinds[0]) else "same" if kind == kinds[0] else "different"
            for kind in kinds[1:]
        ]
        return json.dumps({"answers": words})

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                headers = {}
                while (header := await reader.readline()).strip():
                    name, _, value = header.decode("latin1").partition(":")
                    headers[name.strip().lower()] = value.strip()
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                assert b"/v1/chat/completions" in line
                status, further, text = await self.reply(headers, body)
                self.in_flight -= 1
                cut = text.endswith("\0cut")
                data = text.removesuffix("\0cut").encode()
                head = [f"HTTP/1.1 {status} OK", "Content-Type: application/json"]
                head += [f"Content-Length: {len(data) + 100 * cut}"]
                head += [f"{name}: {value}" for name, value in further.items()]
                writer.write("\r\n".join([*head, "", ""]).encode() + data)
                await writer.drain()
                if cut:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class KindModel(Model):
    """Knows the kind of rows of a table by their column of that name; errs in some pairs, always the same."""

    errs: float = 0.0

    def answer(self, items, content):
        kinds = [f"{(text.partition('kind: ')[2] or text)[:1]}:" for text in items]
        if self.errs and random.Random("|".join(sorted(items))).random() < self.errs:
            kinds = [kinds[0], *("9:" if kind == kinds[0] else kinds[0] for kind in kinds[1:])]
        return super().answer(kinds, content)


class LookupModel(Model):
    """Knows the kinds of some texts."""

    kinds: dict[str, object] = {}  # noqa: RUF012

    def answer(self, items, content):
        return super().answer([f"{self.kinds.get(text, '?')}:" for text in items], content)


def serve_texts(kinds):
    """Start a server that knows the kinds of some texts; return its address. It ends with the process."""
    model = LookupModel()
    model.kinds = kinds
    _forever.append(running(model))
    return _forever[-1].__enter__()


_forever = []


@contextmanager
def running(model):
    """Run a server in a thread; yield its address."""
    ready = threading.Event()
    at = []

    async def main():
        server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
        at.append(server.sockets[0].getsockname()[1])
        stop = asyncio.Event()
        at.extend([asyncio.get_running_loop(), stop])
        ready.set()
        async with server:
            await stop.wait()
            server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield f"http://127.0.0.1:{at[0]}/v1"
    finally:
        at[1].call_soon_threadsafe(at[2].set)
        thread.join(10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("settings", help="of Model, as JSON")
    given = parser.parse_args()

    async def main():
        model = Model(**json.loads(given.settings))
        server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()

    asyncio.run(main())
