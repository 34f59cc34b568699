"""A page as a browser reads it: white space as one space, and none where nobody can see it."""

import re

BLOCK = "article|aside|dd|div|dl|dt|footer|form|h[1-6]|header|li|nav|ol|option|p|section|t[dhr]|ul"
EDGE = re.compile(rf" ?(</?(?:{BLOCK}|table|tbody|thead)\b[^>]*>) ?")


def flat(page: str) -> str:
    """A page in which tags and sentences can be looked for, wherever its lines were broken."""
    return EDGE.sub(r"\1", re.sub(r"\s+", " ", page).replace(" >", ">"))
