"""
A chat model that answers
=========================

A language model judges pairs of messages over OpenAI's chat completions protocol.

So that this runs anywhere, a small server plays the model. It looks answers up, and errs in one of thirty.
For a real one (vLLM, llama.cpp, Ollama, a service) only the address and the name change.
"""

import json
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import samekind

texts, topics = samekind.datasets.make_messages(100, random_state=0)

# %%
# The server. A call holds items between fences, and asks which of them are of the kind of the first.
ITEM = re.compile(r"<<<(DATA-\w+) item \d+\n(.*?)\n\1>>>", re.DOTALL)
TOPIC = dict(zip(texts, topics, strict=True))
slips = random.Random(0)


class PlaysAModel(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        first, *others = [TOPIC[text] for _, text in ITEM.findall(call["messages"][-1]["content"])]
        same = [(topic == first) == (slips.random() > 1 / 30) for topic in others]
        said = ["same" if one else "different" for one in same]
        reply = {
            "choices": [
                {"message": {"role": "assistant", "content": json.dumps({"answers": said})}}
            ],
            "usage": {"prompt_tokens": 250, "completion_tokens": 4 * len(said)},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), PlaysAModel)
threading.Thread(target=server.serve_forever, daemon=True).start()

# %%
# The model as an oracle: it is told what makes two messages one kind, and what it may cost at most.
model = samekind.ChatOracle(
    texts,
    url=f"http://127.0.0.1:{server.server_port}/v1",
    model="plays-a-model",
    criterion="Two messages are of one kind if the customer wants the same thing.",
    price=(0.15, 0.60),  # for a million tokens read, and written
    cap=0.05,
)
print(f"about {model.estimate(300).cost:.4f} for 300 questions")  # a dry run: nothing is sent

clusters = samekind.solve(texts, model, budget=300, random_state=0)
server.shutdown()
server.server_close()

# %%
# Answers of a model are evidence, not truth: how often it errs is estimated.
print(f"{clusters.n_discovered_} kinds; {model.spent.calls} calls cost {model.spent.cost:.4f}")
for note in clusters.notes_[:2]:
    print("-", note)
index = samekind.measures.adjusted_rand_index(topics, clusters.labels_)
print("adjusted Rand index:", round(index, 2))
