from argsum.management.base_commands import TrainCommand
from argsum.scorers.methods.training import ScorerRecipe
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a match scorer on arguments with key points. Each batch is from one cell; weights "
        "and thresholds are chosen on the dev split. After an interruption, repeat the command."
    )
    task = Scorer.Task.MATCH
    recipe = ScorerRecipe
