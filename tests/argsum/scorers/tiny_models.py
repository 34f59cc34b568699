"""Models of a few thousand random weights that read and write the invented arguments."""

import re

from argsum.scorers.methods.training import SIDES as SPOKEN, TASK
from tests.argsum.made_cells import SIDES, TOPIC

WORD = re.compile(r"\w+|[^\w\s]")


def trained(scorer):
    """The row after the worker was there; a test never commits, so nobody rings."""
    from cqa_site.runs.jobs import drain

    drain()
    scorer.refresh_from_db()
    return scorer


def words():
    texts = [TOPIC]
    for _stance, key_points in SIDES:
        texts += [*key_points, *(text for own in key_points.values() for text in own)]
    return sorted({word.lower() for text in texts for word in WORD.findall(text)})


def make_tiny_model(folder):
    """Two layers of 32 dimensions, random weights; returns the folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    raw = folder.with_name(folder.name + "-raw")
    raw.mkdir(parents=True)
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words()]
    (raw / "vocab.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        # Weights so small as usual would give every text about the same vector.
        initializer_range=0.3,
    )
    BertModel(config).save_pretrained(raw)
    BertTokenizer(str(raw / "vocab.txt")).save_pretrained(raw)
    layers = [Transformer(str(raw)), Pooling(32)]
    SentenceTransformer(modules=layers, device="cpu").save(str(folder), create_model_card=False)
    return folder


SPECIAL = ["<pad>", "</s>", "<unk>"]


def make_tiny_writer(folder):
    """Two layers of 32 dimensions; returns the folder."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    said = [each for side in (TASK, *SPOKEN.values()) for each in side.replace(":", " :").split()]
    names = [*SPECIAL, *dict.fromkeys([*said, *words(), "(", ")", "dev", "test"])]
    tokenizer = Tokenizer(
        models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    torch.manual_seed(0)
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    tokens = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = T5Config(vocab_size=len(names), **sizes, **tokens)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
