"""A T5 of a few thousand random weights with a tokenizer of the invented arguments' words."""

from argsum.scorers.methods.writing_recipe import SIDES, TASK
from tests.argsum.scorers.tiny_models import words

SPECIAL = ["<pad>", "</s>", "<unk>"]


def make_tiny_writer(folder):
    """Two layers of 32 dimensions; returns the folder."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    said = [each for side in (TASK, *SIDES.values()) for each in side.replace(":", " :").split()]
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
    config = T5Config(
        vocab_size=len(names),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
