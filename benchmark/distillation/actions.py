"""Training of a LoRA adapter on chat pairs; the only file that imports peft.

It runs on a CPU or an accelerator. The model learns only the assistant's text; the question is
input. All heavy packages are imported when training begins.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from cqa_site.judging.training import Training, TrainingRecipe

Messages = list[dict[str, str]]
# Token ids and labels of a pair, and whether it was truncated.
Example = dict[str, Any]
IGNORED = -100
PACKAGES = ("torch", "transformers", "peft")
MANIFEST = "training.json"
# Settings that appendix B of the CompQA paper names, and how ours always differ.
IN_PAPER = ("epochs", "batch", "learning_rate", "warmup", "weight_decay")
ALWAYS = (
    "optimizer: AdamW, with decoupled weight decay; the paper names Adam",
    "one device with gradient accumulation; the paper used four with DeepSpeed ZeRO 3",
    "rank, alpha, dropout, maximum pair length and seed are not stated in the paper",
    "only the text of the answer is learned; the paper does not state this",
)


class TrainingRefused(Exception):
    """Raised if nothing can be trained; the message gives the reason."""


@dataclass(frozen=True, kw_only=True)
class AdapterRecipe(TrainingRecipe):
    """Settings for training the adapter.

    The defaults are those of the CompQA paper, where it states them.

    Appendix B gives the epochs, batch size, learning rate, warm-up, weight decay and cosine
    schedule. Rank, alpha, dropout and the maximum length of a pair are ours.

    Attributes
    ----------
    batch : int
        Pairs per optimizer step.
    at_once : int
        Pairs in memory at a time; gradients are accumulated over a batch.
    warmup : float
        Share of the steps in which the rate rises from 0; afterwards, it falls to 0 along a
        cosine.
    rank, dropout
        Rank and dropout of the low-rank matrices, which are added to all linear layers of the
        model.
    longest : int
        Maximum number of tokens in a pair; longer pairs are truncated and counted.
    """

    bounds: ClassVar = {
        **dict.fromkeys(("epochs", "batch", "at_once", "rank", "longest"), (1, math.inf)),
        **dict.fromkeys(("warmup", "dropout"), (0, 0.999)),
        "weight_decay": (0, math.inf),
    }
    epochs: int = 3
    batch: int = 32
    at_once: int = 4
    learning_rate: float = 1e-6
    warmup: float = 0.03
    weight_decay: float = 0.01
    rank: int = 16
    dropout: float = 0.05
    longest: int = 2048
    seed: int = 1

    @property
    def alpha(self) -> int:
        """Scale of the low-rank matrices: twice their rank."""
        return 2 * self.rank


def read_pairs(path: Path) -> list[Messages]:
    """Read the messages of a JSON Lines file; raise TrainingRefused with the file and line."""
    pairs = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                pairs.append(_messages(line, f"{path.name}, line {number}"))
    if not pairs:
        raise TrainingRefused(f"{path.name} contains no pairs.")
    return pairs


def train(
    pairs: Sequence[Messages],
    *,
    model: str,
    out: Path,
    recipe: AdapterRecipe,
    validation: Sequence[Messages] = (),
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Train the adapter and save it in the folder ``out`` with its tokenizer and a manifest.

    Return the manifest, whose losses are means per learned token, in nats.

    ``model`` is a folder or a model name for transformers. Raise TrainingRefused if it cannot be
    loaded.
    """
    training = AdapterTraining(model, pairs, validation, recipe, say)
    training.run(lambda done, total, note: None)
    training.model.save_pretrained(out)
    training.tokenizer.save_pretrained(out)
    looks = training.progress.looks
    content = json.dumps(list(pairs), ensure_ascii=False, sort_keys=True)
    manifest = {
        "base_model": model,
        "recipe": asdict(recipe) | {"alpha": recipe.alpha},
        "differs_from_the_paper": differences(recipe),
        "pairs": len(pairs),
        "pairs_cut": sum(example["cut"] for example in training.examples),
        "pairs_sha256": hashlib.sha256(content.encode()).hexdigest(),
        "losses": [look["loss"] for look in looks],
        "validation_losses": [look["validation"] for look in looks if "validation" in look],
        "packages": {name: version(name) for name in PACKAGES},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=True)
    (out / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


class AdapterTraining(Training):
    """Training of an adapter; reports the loss after each epoch and uses the last weights."""

    # All processor threads, because a large model takes hours.
    threads = None
    clip = None

    def __init__(
        self,
        model: str,
        pairs: Sequence[Messages],
        validation: Sequence[Messages],
        recipe: AdapterRecipe,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(recipe)
        import torch
        from peft import LoraConfig, TaskType, get_peft_model

        self.say, self.total, self.tokens = say, 0.0, 0
        self.tokenizer, base = _load(model)
        self.examples, self.held = (
            [_example(self.tokenizer, pair, recipe.longest) for pair in part]
            for part in (pairs, validation)
        )
        config = LoraConfig(
            task_type=TaskType.CAUSAL_LM,
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules="all-linear",
        )
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = get_peft_model(base, config).to(device)
        weights = (weight for weight in self.model.parameters() if weight.requires_grad)
        batches = self._batches()
        looks_at = range(0, len(batches) + 1, len(batches) // recipe.epochs)[1:]
        self.prepare(batches, looks_at, weights, decay=recipe.weight_decay)

    def rate(self, step: int) -> float:
        """Return the factor for the learning rate at a step."""
        return rate_at(step, self.steps, self.recipe.warmup)

    def losses(self, batch: Sequence[Example]) -> Iterator[Any]:
        """Yield each part's share of the loss; every learned token has the same weight."""
        learned = sum(map(_learned, batch))
        self.tokens += learned
        for loss, count in self._parts(batch):
            yield loss * count / learned
            self.total += float(loss.detach()) * count

    def judge(self) -> tuple[dict[str, Any], float]:
        """Return the epoch's mean losses per learned token; the last epoch counts as the best."""
        import torch

        epoch = len(self.progress.looks) + 1
        figures = {"loss": self._mean()}
        if self.held:
            self.model.eval()
            with torch.no_grad():
                for start in range(0, len(self.held), self.recipe.batch):
                    list(self.losses(self.held[start : start + self.recipe.batch]))
            figures["validation"] = self._mean()
        losses = (f"{name} {loss:.4f}" for name, loss in figures.items())
        self.say(f"epoch {epoch} of {self.recipe.epochs}: {', '.join(losses)}")
        return figures, epoch

    def _mean(self) -> float:
        """Return the mean loss of the tokens since the last call."""
        total, tokens = self.total, self.tokens
        self.total, self.tokens = 0.0, 0
        return total / tokens if tokens else math.nan

    def _batches(self) -> list[list[Example]]:
        batches, size = [], self.recipe.batch
        for epoch in range(self.recipe.epochs):
            examples = list(self.examples)
            random.Random(self.recipe.seed + epoch).shuffle(examples)  # noqa: S311  an order
            batches += [examples[at : at + size] for at in range(0, len(examples), size)]
        return batches

    def _parts(self, examples: Sequence[Example]) -> Iterator[tuple[Any, int]]:
        """Yield the mean loss per learned token and the number of learned tokens of each part."""
        for start in range(0, len(examples), self.recipe.at_once):
            part = examples[start : start + self.recipe.at_once]
            if count := sum(map(_learned, part)):
                yield self._loss(part), count

    def _loss(self, examples: Sequence[Example]) -> Any:
        """Return the mean loss per learned token of pairs, padded to the length of the longest."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        rows = {
            "input_ids": ([example["ids"] for example in examples], self.tokenizer.pad_token_id),
            "labels": ([example["labels"] for example in examples], IGNORED),
            "attention_mask": ([[1] * len(example["ids"]) for example in examples], 0),
        }
        padded = {
            name: pad_sequence(list(map(torch.tensor, part)), True, filler or 0)
            for name, (part, filler) in rows.items()
        }
        device = next(self.model.parameters()).device
        return self.model(**{name: part.to(device) for name, part in padded.items()}).loss


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


def _messages(line: str, where: str) -> Messages:
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


def _chat(tokenizer: Any, messages: Messages, *, asks: bool) -> list[int]:
    """Return the token ids of messages, using the model's own template if it has one."""
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    else:
        lines = [f"{message['role'].capitalize()}: {message['content']}" for message in messages]
        text = "\n".join(lines) + ("\nAssistant:" if asks else "")
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _example(tokenizer: Any, messages: Messages, longest: int) -> Example:
    """Return the token ids and labels of one pair; tokens before the answer are not learned."""
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


def _learned(example: dict[str, Any]) -> int:
    """Return the number of learned tokens of a pair; the first token is never learned."""
    return sum(label != IGNORED for label in example["labels"][1:])


def differences(recipe: AdapterRecipe) -> list[str]:
    """List the differences from the training described in the paper, one sentence each."""
    paper = AdapterRecipe()
    changes = [
        f"{name}: {getattr(recipe, name):g}; the paper: {getattr(paper, name):g}"
        for name in IN_PAPER
        if getattr(recipe, name) != getattr(paper, name)
    ]
    return [*changes, *ALWAYS]
