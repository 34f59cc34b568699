"""A sentence-transformers model of a few thousand weights that reads the invented arguments."""

import re

from tests.argsum.made_cells import SIDES, TOPIC

WORD = re.compile(r"\w+|[^\w\s]")


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
