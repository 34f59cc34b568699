"""Training of a LoRA adapter on chat pairs; the only file that imports peft.

Runs on the CPU as well as on an accelerator. Only the words of the assistant are learned; the
question is read, not learned. All heavy packages are imported when training begins.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

IGNORED = -100
PACKAGES = ("torch", "transformers", "peft")
MANIFEST = "training.json"
# What appendix B of the CompQA paper names, and how we always differ from it.
IN_PAPER = ("epochs", "batch", "learning_rate", "warmup", "weight_decay")
ALWAYS = (
    "optimizer: AdamW, with the decay apart from the gradient; the paper says Adam",
    "one device, gradients added up to a batch; the paper: four with DeepSpeed ZeRO 3",
    "rank, alpha, dropout, longest pair and seed: the paper names none",
    "only the words of the answer are learned; the paper does not say",
)


class TrainingRefused(Exception):
    """Raised if nothing can be trained; the message gives the reason."""


@dataclass(frozen=True, kw_only=True)
class AdapterRecipe:
    """Settings for training the adapter.

    Defaults are those of the CompQA paper where it gives any.

    Appendix B gives epochs, batch, learning rate, warm-up, weight decay and a cosine schedule.
    Rank, alpha, dropout and the longest pair are ours.

    Attributes
    ----------
    batch : int
        Pairs between two steps of the optimizer.
    at_once : int
        Pairs in memory at a time; gradients are added up to a batch.
    warmup : float
        Share of the steps in which the rate rises from 0; from there it falls as a cosine to 0.
    rank, alpha, dropout
        Of the low-rank matrices; on all linear layers of the model.
    longest : int
        Tokens of a pair; what is longer is cut, and counted.
    """

    epochs: int = 3
    batch: int = 32
    at_once: int = 4
    learning_rate: float = 1e-6
    warmup: float = 0.03
    weight_decay: float = 0.01
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    longest: int = 2048
    seed: int = 1


@dataclass(frozen=True)
class TrainedAdapter:
    """Result of a training; losses are means per learned token, in nats."""

    losses: list[float]
    validation: list[float]
    pairs: int
    cut: int


def read_pairs(path: Path) -> list[list[dict[str, str]]]:
    """Read the messages of a JSON Lines file; raises TrainingRefused with file and line."""
    pairs = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                pairs.append(_messages(line, f"{path.name}, line {number}"))
    if not pairs:
        raise TrainingRefused(f"{path.name} contains no pairs.")
    return pairs


def train(
    pairs: Sequence[list[dict[str, str]]],
    *,
    model: str,
    out: Path,
    recipe: AdapterRecipe,
    validation: Sequence[list[dict[str, str]]] = (),
    say: Callable[[str], None] = print,
) -> TrainedAdapter:
    """Train the adapter and save it in the folder ``out`` with its tokenizer and a manifest.

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
        (parameter for parameter in adapted.parameters() if parameter.requires_grad),
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    steps = recipe.epochs * math.ceil(len(examples) / recipe.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rate_at(step, steps, recipe.warmup)
    )
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    losses, checked = [], []
    for epoch in range(recipe.epochs):
        order = list(range(len(examples)))
        random.Random(recipe.seed + epoch).shuffle(order)  # noqa: S311  an order, not a secret
        adapted.train()
        shuffled = [examples[place] for place in order]
        losses.append(_epoch(adapted, shuffled, recipe, pad, (optimizer, schedule)))
        if held:
            adapted.eval()
            with torch.no_grad():
                checked.append(_epoch(adapted, held, recipe, pad, None))
        beside = f", validation {checked[-1]:.4f}" if held else ""
        say(f"epoch {epoch + 1} of {recipe.epochs}: loss {losses[-1]:.4f}{beside}")
    adapted.save_pretrained(out)
    tokenizer.save_pretrained(out)
    trained = TrainedAdapter(
        losses, checked, len(pairs), sum(example["cut"] for example in examples)
    )
    _write_manifest(out, model, recipe, pairs, trained)
    return trained


def write_answers(
    requests: Sequence[Sequence[Mapping[str, str]]],
    *,
    model: str,
    adapter: Path,
    most_tokens: int = 700,
) -> list[str]:
    """Generate the tuned model's answers to requests (chat messages), greedily, one at a time."""
    import torch
    from peft import PeftModel

    tokenizer, base = _load(model)
    tuned = PeftModel.from_pretrained(base, str(adapter)).eval()
    answers = []
    for messages in requests:
        ids = _chat(tokenizer, [dict(message) for message in messages], asks=True)
        with torch.no_grad():
            output = tuned.generate(
                input_ids=torch.tensor([ids]),
                attention_mask=torch.ones((1, len(ids)), dtype=torch.long),
                max_new_tokens=most_tokens,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id or 0,
            )
        answers.append(tokenizer.decode(output[0][len(ids) :], skip_special_tokens=True).strip())
    return answers


def _messages(line: str, where: str) -> list[dict[str, str]]:
    try:
        messages = json.loads(line)["messages"]
        roles = [message["role"] for message in messages]
        is_text = all(isinstance(message["content"], str) for message in messages)
    except (ValueError, KeyError, TypeError) as problem:
        raise TrainingRefused(f"{where}: not an object with chat messages.") from problem
    if not is_text or roles[-1:] != ["assistant"] or not messages[-1]["content"].strip():
        raise TrainingRefused(f"{where}: the last message must be an answer by the assistant.")
    return [{"role": message["role"], "content": message["content"]} for message in messages]


def _load(model: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
        return tokenizer, AutoModelForCausalLM.from_pretrained(model)
    except (OSError, ValueError) as problem:
        text = f"The model {model!r} cannot be loaded: {str(problem).splitlines()[0]}"
        raise TrainingRefused(text) from problem


def _chat(tokenizer: Any, messages: list[dict[str, str]], *, asks: bool) -> list[int]:
    """Return the token ids of messages, using the model's own template if it has one."""
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    else:
        lines = [f"{message['role'].capitalize()}: {message['content']}" for message in messages]
        text = "\n".join(lines) + ("\nAssistant:" if asks else "")
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _example(tokenizer: Any, messages: list[dict[str, str]], longest: int) -> dict[str, Any]:
    """Return token ids and labels of one pair; tokens before the answer are not learned."""
    chat = _chat(tokenizer, messages[:-1], asks=True)
    whole = _chat(tokenizer, messages, asks=False)
    start = _common(chat, whole)
    if tokenizer.eos_token_id is not None and whole[-1:] != [tokenizer.eos_token_id]:
        whole = [*whole, tokenizer.eos_token_id]
    labels = [IGNORED] * start + whole[start:]
    return {"ids": whole[:longest], "labels": labels[:longest], "cut": len(whole) > longest}


def _common(first: list[int], second: list[int]) -> int:
    """Return the length of the common prefix.

    A template may end the question differently in a prompt than in a full pair.
    """
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (token, other) in enumerate(pairs) if token != other),
        min(len(first), len(second)),
    )


def rate_at(step: int, steps: int, warmup: float) -> float:
    """Return the learning rate factor at a step (from 0): linear warm-up, then cosine to 0.

    Examples
    --------
    >>> [round(rate_at(step, 10, 0.2), 2) for step in (0, 1, 2, 6, 10)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def _epoch(
    model: Any,
    examples: list[dict[str, Any]],
    recipe: AdapterRecipe,
    pad: int,
    learning: tuple[Any, Any] | None,
) -> float:
    """Return the mean loss per learned token.

    Without optimizer and schedule nothing is trained.
    """
    total, tokens = 0.0, 0
    for start in range(0, len(examples), recipe.batch):
        batch = examples[start : start + recipe.batch]
        learned = sum(map(_learned, batch))
        if not learned:
            continue
        for place in range(0, len(batch), recipe.at_once):
            some = batch[place : place + recipe.at_once]
            count = sum(map(_learned, some))
            if not count:
                continue
            loss = _loss(model, some, pad)
            if learning is not None:
                # Every learned token of the batch weighs the same.
                (loss * count / learned).backward()
            total += float(loss.detach()) * count
        tokens += learned
        if learning is not None:
            optimizer, schedule = learning
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return total / tokens if tokens else math.nan


def _learned(example: dict[str, Any]) -> int:
    """Return the number of learned tokens of a pair; the first token is never learned."""
    return sum(label != IGNORED for label in example["labels"][1:])


def _loss(model: Any, examples: list[dict[str, Any]], pad: int) -> Any:
    """Return the mean loss per learned token of some pairs, padded to the longest."""
    import torch

    width = max(len(example["ids"]) for example in examples)
    ids = [example["ids"] + [pad] * (width - len(example["ids"])) for example in examples]
    labels = [
        example["labels"] + [IGNORED] * (width - len(example["labels"])) for example in examples
    ]
    mask = [
        [1] * len(example["ids"]) + [0] * (width - len(example["ids"])) for example in examples
    ]
    place = {"device": next(model.parameters()).device}
    return model(
        input_ids=torch.tensor(ids, **place),
        attention_mask=torch.tensor(mask, **place),
        labels=torch.tensor(labels, **place),
    ).loss


def differences(recipe: AdapterRecipe) -> list[str]:
    """List the differences from the training described in the paper, one sentence each."""
    paper = AdapterRecipe()
    changes = [
        f"{name}: {getattr(recipe, name):g}; the paper: {getattr(paper, name):g}"
        for name in IN_PAPER
        if getattr(recipe, name) != getattr(paper, name)
    ]
    return [*changes, *ALWAYS]


def _write_manifest(
    out: Path,
    model: str,
    recipe: AdapterRecipe,
    pairs: Sequence[list[dict[str, str]]],
    trained: TrainedAdapter,
) -> None:
    content = json.dumps(list(pairs), ensure_ascii=False, sort_keys=True)
    manifest = {
        "base_model": model,
        "recipe": asdict(recipe),
        "differs_from_the_paper": differences(recipe),
        "pairs": trained.pairs,
        "pairs_cut": trained.cut,
        "pairs_sha256": hashlib.sha256(content.encode()).hexdigest(),
        "losses": trained.losses,
        "validation_losses": trained.validation,
        "packages": {name: version(name) for name in PACKAGES},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=True)
    (out / MANIFEST).write_text(text + "\n", encoding="utf-8")
