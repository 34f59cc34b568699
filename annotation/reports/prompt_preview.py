"""What a prompt makes of an argument: the messages as they would leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from annotation.actions.guidelines import default_levels
