"""Training data, and a LoRA adapter trained on a tiny model that the test makes itself."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.answers.actions import argument_list
from annotation.answers.models import Answer, System
from annotation.corpus.models import Argument
from benchmark.distillation.actions import (
    AdapterRecipe,
    TrainingRefused,
    differences,
    rate_at,
    read_pairs,
    train,
)
from benchmark.distillation.reports import bare_requests
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets

WORDS = ["tea", "coffee", "is", "better", "which", "or", "because", "it", "warm", "cheap", "?"]
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}> {{ m.content }} </s> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A causal model of a few thousand weights with a tokenizer of a dozen words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    names = ["<pad>", "</s>", "<unk>", "<user>", "<assistant>", *WORDS]
    words = Tokenizer(WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 64}
    marks = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    # Weights so small as usual would keep every word about as likely, whatever is learned.
    config = LlamaConfig(vocab_size=len(names), initializer_range=0.5, **sizes, **marks)
    folder = tmp_path_factory.mktemp("tiny")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


QUESTION = ({"role": "user", "content": "which is better tea or coffee ?"},)


def write_pairs(
    path, answers=("tea is better because it is warm",), asked=QUESTION, question=None
):
    about = {"question": str(question.public_id)} if question else {}
    records = [
        {"messages": [*map(dict, asked), {"role": "assistant", "content": answer}], "about": about}
        for answer in answers
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


@pytest.mark.long
def test_an_adapter_is_trained_and_becomes_a_system_that_answers(study, tiny, tmp_path, capsys):
    make_scored_answers(study, questions=3, systems=("Alpha",))
    study.questions.update(wording="which is better tea or coffee ?")
    first = study.questions.first()
    (asked,) = bare_requests(study, [first])
    said = ["tea is better because it is warm"] * 4
    pairs = write_pairs(tmp_path / "train.jsonl", said, asked, first)
    out = tmp_path / "adapter"
    trained = {"epochs": 60, "learning_rate": 0.02, "rank": 8, "validation": pairs}
    asks = {"study": str(study.public_id), "system": "Tuned", "answers": 3, "most_tokens": 8}
    call_command("finetune", str(pairs), model=str(tiny), out=out, **trained, **asks)
    manifest = json.loads((out / "training.json").read_text())
    losses = manifest["losses"]
    assert losses[-1] < losses[0] / 2
    assert manifest["validation_losses"][-1] < manifest["validation_losses"][0]
    assert (manifest["pairs"], manifest["pairs_cut"]) == (4, 0)
    assert "epochs: 60; the paper: 3" in manifest["differs_from_the_paper"]
    assert (out / "adapter_model.safetensors").stat().st_size > 0
    system = System.objects.get(study=study, name="Tuned")
    assert system.kind == System.Kind.MODEL
    answers = Answer.objects.filter(study=study, system=system)
    # Of three questions it was trained on one, which it is not asked.
    assert set(answers.values_list("question", flat=True)) == set(
        study.questions.exclude(pk=first.pk).values_list("pk", flat=True)
    )
    said = capsys.readouterr().out
    assert "because the system was trained on them: 1." in said
    # What it says now is what it was taught.
    assert {answer.text for answer in answers} == {"tea is better because it is warm"}
    assert "System Tuned: created." in said
    assert "Unlike the paper: learning_rate: 0.02; the paper: 1e-06." in said


def test_the_rate_rises_in_the_warm_up_and_falls_as_a_cosine():
    recipe = AdapterRecipe()
    assert (recipe.epochs, recipe.batch, recipe.learning_rate) == (3, 32, 1e-6)
    assert (recipe.warmup, recipe.weight_decay) == (0.03, 0.01)
    # What the paper does not name, or what we do otherwise, is said in any case.
    assert len(differences(recipe)) == 4
    rates = [rate_at(step, 100, 0.03) for step in range(101)]
    assert rates[:3] == pytest.approx([1 / 3, 2 / 3, 1])
    assert rates[3:] == sorted(rates[3:], reverse=True)
    assert rates[100] == pytest.approx(0)
    assert rate_at(3 + 97 // 2, 100, 0.03) == pytest.approx(0.5, abs=0.02)


@pytest.mark.long
def test_gradients_of_parts_add_up_to_those_of_the_batch(tiny, tmp_path):
    """Four pairs at once or one by one: the same steps."""
    answers = ["tea is warm", "coffee is cheap because it is", "tea", "coffee is better"]
    pairs = read_pairs(write_pairs(tmp_path / "train.jsonl", answers))
    losses = []
    for at_once in (4, 1):
        recipe = AdapterRecipe(epochs=4, batch=4, at_once=at_once, learning_rate=0.01, dropout=0)
        out = tmp_path / f"out-{at_once}"
        out.mkdir()
        losses.append(train(pairs, model=str(tiny), out=out, recipe=recipe, say=len)["losses"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert losses[0][-1] < losses[0][0]


@pytest.mark.long
def test_only_the_answer_is_learned(tiny):
    from transformers import AutoTokenizer

    from benchmark.distillation.actions import IGNORED, _example

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    pair = [
        {"role": "user", "content": "which is better tea or coffee ?"},
        {"role": "assistant", "content": "tea is"},
    ]
    made = _example(tokenizer, pair, 64)
    learned = [label for label in made["labels"] if label != IGNORED]
    assert tokenizer.decode(learned) == "tea is </s>"
    assert made["ids"][-len(learned) :] == learned
    assert _example(tokenizer, pair, 5)["cut"]


def test_a_bad_line_is_named(tmp_path):
    for line, said in (
        ("no json", "line 2: not an object"),
        ('{"messages": "text"}', "line 2: not an object"),
        ('{"messages": [{"role": "user", "content": "x"}]}', "line 2: the last message"),
        ('{"messages": [{"role": "assistant", "content": 3}]}', "line 2: the last message"),
    ):
        path = write_pairs(tmp_path / "train.jsonl", ["fine"])
        path.write_text(path.read_text() + line + "\n")
        with pytest.raises(TrainingRefused, match=said):
            read_pairs(path)


@pytest.mark.django_db
@pytest.mark.long
def test_what_cannot_be_trained_is_refused(tiny, tmp_path):
    pairs = write_pairs(tmp_path / "train.jsonl")
    usual = {"model": str(tiny), "out": tmp_path / "new"}
    for wrong, said in (
        ({"out": tmp_path}, "is not empty"),
        ({"answers": 3}, "needs --study"),
        ({"model": str(tmp_path / "nowhere")}, "cannot be loaded"),
        ({"epochs": 0}, "epochs: 0 is not between 1"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("finetune", str(pairs), **usual | wrong)


def give_arguments(study):
    """The list that every answer cites from."""
    for answer in study.answers.select_related("question__comparison"):
        pair = answer.question.comparison
        argument = Argument.objects.filter(comparison=pair).first() or Argument.objects.create(
            study=study, comparison=pair, text=f"{pair.object1}: it floats well."
        )
        listed = argument_list(answer.question, [(1, argument)], {})
        study.answers.filter(pk=answer.pk).update(argument_list=listed)


@pytest.mark.long
def test_the_page_of_training_data(study, client, django_assert_max_num_queries):
    answers = make_scored_answers(study, questions=6)
    people, judge = make_rater(study, "Ada"), make_rater(study, "Judge", "model")
    make_sheets(study, answers, [people, judge])
    url = reverse("distillation", args=[study.public_id])
    page = client.get(url)
    assert page.status_code == 200
    rubric = str(study.rubric_versions.get().public_id)
    wanted = {"rubric": rubric, "basis": "both", "least_total": 1, "each": 1}
    wanted |= {"validation": 0.5, "seed": 1}
    # Every answer cites [1]; without the argument nothing could be asked that leads to it.
    page = client.get(url, wanted)
    assert page.context["training"].counts == {"train": 0, "validation": 0}
    left_out = page.context["training"].chosen.left_out
    assert left_out == {"it cites an argument that is not stored": len(answers)}
    give_arguments(study)
    with django_assert_max_num_queries(21):
        page = client.get(url, wanted)
    assert page.context["training"].counts == {"train": 3, "validation": 3}
    lines = b"".join(client.get(url, wanted | {"file": "train"}).streaming_content).splitlines()
    assert len(lines) == 3
    record = json.loads(lines[0])
    assert [each["role"] for each in record["messages"]][-2:] == ["user", "assistant"]
    asked = record["messages"][-2]["content"]
    assert "[1]" in record["messages"][-1]["content"]
    assert '"id": 1' in asked.replace('"id":1', '"id": 1')
    assert "it floats well" in asked
    assert record["about"]["part"] == "train"
    sheet = b"".join(client.get(url, wanted | {"file": "datasheet"}).streaming_content).decode()
    assert "3 for training, 3 for validation" in sheet
    assert client.get(url, wanted | {"least_total": "many"}).status_code == 422
    only = client.get(url, wanted | {"judges": str(judge.public_id)})
    assert only.context["training"].judges == ["Judge"]
    unlimited = client.get(url, {name: wanted[name] for name in wanted if name != "each"})
    assert unlimited.context["training"].chosen.pairs.shape[0] == len(answers)
    nothing = client.get(url, wanted | {"least_total": 19.5}).text
    assert "0 pairs" in nothing
