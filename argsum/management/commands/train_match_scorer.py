from argsum.management.base_commands import TrainCommand
from argsum.scorers.methods.training import ScorerRecipe
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a match scorer on arguments with key points: batches of one cell, weights and "
        "thresholds chosen on the dev split. Repeat the command after an interruption."
    )
    task = Scorer.Task.MATCH
    recipe = ScorerRecipe
