"""What people are told about judging a set, unless a round says something else."""

GUIDE = """\
You see a debate topic, a side, and two lists. **References** are key points that people wrote
after reading the whole debate. **Summaries** are what a system wrote. You answer two questions,
and you only compare meaning: wording, length and style do not matter.

### 1. How many references do the summaries cover?

Read one reference and look for its point among the summaries.

- **Covered**: the summaries make this point, in one of them or in several together.
- **Partly**: they make only a part of it, or something more general that includes it.
- **Not covered**: the point is missing, or only the topic is the same.

Then tick the summaries in which you found the point. One summary may cover several references.

### 2. How many different things do the summaries say?

Give summaries that say the same the same letter; a summary with a point of its own gets a letter
of its own. It does not matter whether the point is among the references.

- Tick **partly** where a statement repeats another one in part and adds something of its own. Tick
  it for one of the two, never for both: it then counts one half.
- Choose **says nothing** for a text that makes no point at all.

### An example

Topic: *Every town should keep a public night bus*, supporting side. The texts are invented.

| Reference | Judgement |
|---|---|
| Night buses keep people safe on their way home | covered, by 1 |
| Night buses help people who work in shifts | partly, by 2: only nurses are named |
| Night buses cost less than taxis | not covered |

| Summary | Statement |
|---|---|
| 1. Nobody has to walk through dark streets any more | A |
| 2. Nurses reach home after their late shift | B |
| 3. The way home becomes safe | A, the same as 1 |
| 4. Hospital staff and bakers get to work | C, partly: it repeats B and adds bakers |

1.5 of 3 references are covered, and 2.5 of 4 statements are different.

If you cannot decide, tick **unsure**: the set then has no count from you, which is better than a
guess.
"""
