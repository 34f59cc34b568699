from argsum.management.base_commands import TrainCommand
from argsum.scorers.methods.training import WRITER_MODEL, WritingRecipe
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a writer of key points: a sequence-to-sequence model learns to write each "
        "reference key point from the arguments that match it, best first. The epoch is chosen "
        "on the dev split. After an interruption, repeat the command."
    )
    task = Scorer.Task.WRITE
    usual_model, recipe = WRITER_MODEL, WritingRecipe
