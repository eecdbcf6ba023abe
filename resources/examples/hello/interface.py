"""Hello, box: functions that need nothing but Python and show what an interface can do."""

import math
import random
import time
from typing import Iterator, List, Literal, Optional

# Module-level state lives as long as the worker does, like a loaded model would.
notes: List[str] = []


@expose
def greet(name: str, language: Literal["en", "de", "zh"] = "en", shout: bool = False) -> str:
    """Say hello.

    Args:
        name: Whom to greet.
        language: Which language to greet in.
        shout: Whether to be loud about it.
    """
    words = {"en": "Hello", "de": "Hallo", "zh": "你好"}
    text = f"{words[language]}, {name}!"
    return text.upper() if shout else text


@expose
def remember(note: str, tags: Optional[List[str]] = None) -> dict:
    """Keep a note in the box and say how many there are.

    Args:
        note: The text to keep.
        tags: Words to find it by.
    """
    notes.append(note)
    print(f"kept note number {len(notes)}")
    return {"count": len(notes), "tags": tags or [], "notes": notes[-5:]}


@expose
def count_slowly(to: int = 10, delay: float = 0.2) -> dict:
    """Count with a progress bar; can be cancelled at any number.

    Args:
        to: Where to stop.
        delay: Seconds between two numbers.
    """
    for number in range(1, to + 1):
        if cancelled():
            return {"reached": number - 1, "cancelled": True}
        progress(number, to, f"counting: {number}")
        time.sleep(delay)
    return {"reached": to, "cancelled": False}


@expose
def stream_words(text: str = "The agent works in the box only through the gloves you give it.",
                 delay: float = 0.1) -> Iterator[str]:
    """Hand out a text word by word, as a model would.

    Args:
        text: What to say.
        delay: Seconds between two words.
    """
    for word in text.split():
        time.sleep(delay)
        yield word


@expose(read_only=True)
def attention(words: int = 24, sharpness: float = 2.0) -> dict:
    """A made-up attention pattern: a matrix to look at.

    Args:
        words: Rows and columns.
        sharpness: How strongly a word looks at its neighbours.
    """
    rows = []
    for i in range(words):
        scores = [math.exp(-sharpness * abs(i - j) / words * 4 + 0.5 * math.sin(i * j)) if j <= i else 0.0
                  for j in range(words)]
        total = sum(scores)
        rows.append([round(score / total, 6) for score in scores])
    return {"kind": "matrix", "rows": "query", "columns": "key", "data": rows}


@expose(read_only=True)
def surprise(text: str = "the cat sat on the hovercraft", seed: int = 0) -> dict:
    """Tokens with a score each: how surprising each word is (made up).

    Args:
        text: What to score.
        seed: Another seed, another opinion.
    """
    chance = random.Random(seed)
    tokens = []
    for number, word in enumerate(text.split(" ")):
        score = min(1.0, len(word) / 12 + chance.random() * 0.3)
        tokens.append({"text": word if number == 0 else " " + word, "score": round(score, 3)})
    return {"kind": "tokens", "scores": "surprise", "tokens": tokens}


@expose
def divide(a: float, b: float) -> float:
    """Divide; try it with b = 0 to see how an error looks.

    Args:
        a: What to divide.
        b: By what.
    """
    return a / b
