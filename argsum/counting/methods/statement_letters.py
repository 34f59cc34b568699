"""Names of unique statements on a form: A … Z, AA, AB …, as columns of a spreadsheet."""


def letters(count: int) -> list[str]:
    """The first ``count`` names.

    Examples
    --------
    >>> letters(28)[-3:]
    ['Z', 'AA', 'AB']
    """
    return [_letter(number) for number in range(1, count + 1)]


def _letter(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
