"""Training a LoRA adapter on chat pairs; the only file that imports peft.

Runs on the CPU as well as on an accelerator. Only the words of the assistant are learned; the
question is read, not learned. All heavy packages are imported when training begins.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

IGNORED = -100
PACKAGES = ("torch", "transformers", "peft")
MANIFEST = "training.json"


class TrainingRefused(Exception):
    """Nothing can be trained from this; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the adapter is trained.

    Attributes
    ----------
    rank, alpha, dropout
        Of the low-rank matrices; on all linear layers of the model.
    longest : int
        Tokens of a pair; what is longer is cut, and counted.
    """

    epochs: int = 3
    batch: int = 4
    learning_rate: float = 2e-4
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    longest: int = 2048
    seed: int = 1


@dataclass(frozen=True)
class Trained:
    """What came of it; losses are means per learned token, in nats."""

    losses: list[float]
    validation: list[float]
    pairs: int
    cut: int


def read_pairs(path: Path) -> list[list[dict[str, str]]]:
    """Read the messages of a JSON Lines file; raises TrainingRefused with file and line."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                found.append(_messages(line, f"{path.name}, line {number}"))
    if not found:
        raise TrainingRefused(f"{path.name} holds no pair.")
    return found


def train(
    pairs: Sequence[list[dict[str, str]]],
    *,
    model: str,
    out: Path,
    recipe: Recipe,
    validation: Sequence[list[dict[str, str]]] = (),
    say: Callable[[str], None] = print,
) -> Trained:
    """Train and save the adapter with its tokenizer and a manifest in the folder ``out``.

    ``model`` is a folder or a name that transformers knows. Raises TrainingRefused if it cannot
    be loaded.
    """
    import torch
    from peft import LoraConfig, TaskType, get_peft_model

    torch.manual_seed(recipe.seed)
    tokenizer, base = _load(model)
    examples = [_example(tokenizer, pair, recipe.longest) for pair in pairs]
    held = [_example(tokenizer, pair, recipe.longest) for pair in validation]
    config = LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    adapted = get_peft_model(base, config).to(device)
    optimizer = torch.optim.AdamW(
        (each for each in adapted.parameters() if each.requires_grad), lr=recipe.learning_rate
    )
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    losses, checked = [], []
    for epoch in range(recipe.epochs):
        order = list(range(len(examples)))
        random.Random(recipe.seed + epoch).shuffle(order)  # noqa: S311  an order, not a secret
        adapted.train()
        losses.append(_epoch(adapted, [examples[i] for i in order], recipe.batch, pad, optimizer))
        if held:
            adapted.eval()
            with torch.no_grad():
                checked.append(_epoch(adapted, held, recipe.batch, pad, None))
        beside = f", validation {checked[-1]:.4f}" if held else ""
        say(f"epoch {epoch + 1} of {recipe.epochs}: loss {losses[-1]:.4f}{beside}")
    adapted.save_pretrained(out)
    tokenizer.save_pretrained(out)
    trained = Trained(losses, checked, len(pairs), sum(each["cut"] for each in examples))
    _write_manifest(out, model, recipe, pairs, trained)
    return trained


def write_answers(
    questions: Sequence[str], *, model: str, adapter: Path, most_tokens: int = 700
) -> list[str]:
    """Let the tuned model answer questions, greedily, one after the other."""
    import torch
    from peft import PeftModel

    tokenizer, base = _load(model)
    tuned = PeftModel.from_pretrained(base, str(adapter)).eval()
    answers = []
    for question in questions:
        ids = _chat(tokenizer, [{"role": "user", "content": question}], asks=True)
        with torch.no_grad():
            said = tuned.generate(
                input_ids=torch.tensor([ids]),
                attention_mask=torch.ones((1, len(ids)), dtype=torch.long),
                max_new_tokens=most_tokens,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id or 0,
            )
        answers.append(tokenizer.decode(said[0][len(ids) :], skip_special_tokens=True).strip())
    return answers


def _messages(line: str, where: str) -> list[dict[str, str]]:
    try:
        messages = json.loads(line)["messages"]
        roles = [each["role"] for each in messages]
        is_text = all(isinstance(each["content"], str) for each in messages)
    except (ValueError, KeyError, TypeError) as problem:
        raise TrainingRefused(f"{where}: no object with chat messages.") from problem
    if not is_text or roles[-1:] != ["assistant"] or not messages[-1]["content"].strip():
        raise TrainingRefused(f"{where}: the last message must be an answer of the assistant.")
    return [{"role": each["role"], "content": each["content"]} for each in messages]


def _load(model: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
        return tokenizer, AutoModelForCausalLM.from_pretrained(model)
    except (OSError, ValueError) as problem:
        text = f"The model {model!r} cannot be loaded: {str(problem).splitlines()[0]}"
        raise TrainingRefused(text) from problem


def _chat(tokenizer: Any, messages: list[dict[str, str]], *, asks: bool) -> list[int]:
    """Token ids of messages, by the model's own template where it has one."""
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    else:
        lines = [f"{each['role'].capitalize()}: {each['content']}" for each in messages]
        text = "\n".join(lines) + ("\nAssistant:" if asks else "")
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _example(tokenizer: Any, messages: list[dict[str, str]], longest: int) -> dict[str, Any]:
    """Token ids and labels of one pair; everything before the answer is not learned."""
    asked = _chat(tokenizer, messages[:-1], asks=True)
    whole = _chat(tokenizer, messages, asks=False)
    start = _common(asked, whole)
    if tokenizer.eos_token_id is not None and whole[-1:] != [tokenizer.eos_token_id]:
        whole = [*whole, tokenizer.eos_token_id]
    labels = [IGNORED] * start + whole[start:]
    return {"ids": whole[:longest], "labels": labels[:longest], "cut": len(whole) > longest}


def _common(first: list[int], second: list[int]) -> int:
    """Length of what both begin with: a template may end the question otherwise than it asks."""
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (one, two) in enumerate(pairs) if one != two), min(len(first), len(second))
    )


def _epoch(
    model: Any, examples: list[dict[str, Any]], size: int, pad: int, optimizer: Any
) -> float:
    """Mean loss per learned token; without an optimizer nothing is learned."""
    import torch

    total, tokens = 0.0, 0
    for start in range(0, len(examples), size):
        batch = examples[start : start + size]
        width = max(len(each["ids"]) for each in batch)
        ids = [each["ids"] + [pad] * (width - len(each["ids"])) for each in batch]
        labels = [each["labels"] + [IGNORED] * (width - len(each["labels"])) for each in batch]
        mask = [[1] * len(each["ids"]) + [0] * (width - len(each["ids"])) for each in batch]
        place = {"device": next(model.parameters()).device}
        learned = sum(label != IGNORED for row in labels for label in row[1:])
        if not learned:
            continue
        loss = model(
            input_ids=torch.tensor(ids, **place),
            attention_mask=torch.tensor(mask, **place),
            labels=torch.tensor(labels, **place),
        ).loss
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += float(loss.detach()) * learned
        tokens += learned
    return total / tokens if tokens else math.nan


def _write_manifest(
    out: Path,
    model: str,
    recipe: Recipe,
    pairs: Sequence[list[dict[str, str]]],
    trained: Trained,
) -> None:
    content = json.dumps(list(pairs), ensure_ascii=False, sort_keys=True)
    manifest = {
        "base_model": model,
        "recipe": asdict(recipe),
        "pairs": trained.pairs,
        "pairs_cut": trained.cut,
        "pairs_sha256": hashlib.sha256(content.encode()).hexdigest(),
        "losses": trained.losses,
        "validation_losses": trained.validation,
        "packages": {name: version(name) for name in PACKAGES},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=True)
    (out / MANIFEST).write_text(text + "\n", encoding="utf-8")
