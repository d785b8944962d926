"""Sentences of Markdown pages and of comments, and which of them are too long to read once."""
import re

LONGEST_SENTENCE = 45  # words
GENERATED = re.compile(r"<!-- tbench:(\w+) .*?<!-- /tbench:\1 -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
ENTRY = re.compile(r"^\s*(?:[-*+]|\d+\.) ")
# A sentence also ends where a comment's next tag or list entry begins.
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'*]*\s+(?=[\"'(*`[]*[A-Z0-9`])|\s+(?=@(?:param|return|throws|see)\b)|\s+(?=- `?\w)")


def paragraphs(page):
    """Yields the paragraphs, list entries and table cells of a page; code and generated sections are left out."""
    text = LINK.sub(r"\1", FENCED.sub("", GENERATED.sub("", page)))
    lines = []
    for line in [*text.splitlines(), ""]:
        is_row = line.startswith("|")
        if lines and (not line.strip() or is_row or line.startswith("#") or ENTRY.match(line)):
            yield " ".join(lines)
            lines = []
        if is_row:
            yield from (cell.strip() for cell in line.strip("|").split("|"))
        elif line.strip() and not line.startswith("#"):
            lines.append(line.strip())


def long_sentences(paragraph):
    """Returns the sentences of a paragraph that have more than LONGEST_SENTENCE words, as (words, sentence)."""
    counted = ((len(sentence.split()), sentence) for sentence in SENTENCE_END.split(paragraph))
    return [(words, sentence) for words, sentence in counted if words > LONGEST_SENTENCE]
