"""The bare asynchronous `openai` client: no storage, no resuming, only the SDK's own retries.

    python -m benchmarks.judging_bare URL CALLS IN_FLIGHT

Prints how many answers gave a label. It shows what a person can write in twenty minutes, and the
minimum cost of everything built on the same client.
"""

import asyncio
import json
import sys

import openai

from benchmarks.judging_texts import rubric, sentence

NEW_TRIES = 8


async def label(client: openai.AsyncOpenAI, gate: asyncio.Semaphore, place: int) -> int | None:
    """Return one sentence's label, or None if the call or its answer failed."""
    messages = [
        {"role": "system", "content": rubric()},
        {"role": "user", "content": sentence(place)},
    ]
    async with gate:
        try:
            reply = await client.chat.completions.create(
                model="stub-1", messages=messages, temperature=0, max_tokens=200
            )
            return json.loads(reply.choices[0].message.content)["label"]
        except (openai.OpenAIError, ValueError, KeyError):
            return None


async def carry(url: str, calls: int, in_flight: int) -> int:
    """Label this many sentences; return how many got a label."""
    gate = asyncio.Semaphore(in_flight)
    async with openai.AsyncOpenAI(
        base_url=url, api_key="sk-stub", max_retries=NEW_TRIES, timeout=30
    ) as client:
        labels = await asyncio.gather(*(label(client, gate, place) for place in range(calls)))
    return sum(one is not None for one in labels)


if __name__ == "__main__":
    print(asyncio.run(carry(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
