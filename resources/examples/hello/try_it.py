"""The functions of the box from a script of yours; only these names reach into it.

    glovebox expose hello --as library      # writes hello.py here
    python3 try_it.py
"""

import hello

print('greet("Ada", language="de")  ', hello.greet("Ada", language="de"))

kept = hello.remember("the box has gloves", tags=["first"])
print("remember(…)                  ", kept["count"], "note,", kept["tags"])

print("stream_words(…)              ", end="")
for word in hello.stream_words("word by word as they come", delay=0.02):
    print(" " + word, end="", flush=True)
print()

rows = hello.attention(words=6)["data"]
print("attention(words=6)           ", len(rows), "×", len(rows[0]), "matrix, last row", rows[-1][-3:])

tokens = hello.surprise("the cat sat")["tokens"]
print("surprise(…)                  ", ", ".join(f"{token['text'].strip()} {token['score']}" for token in tokens))

try:
    hello.divide(1, 0)
except ZeroDivisionError as error:
    print("divide(1, 0)                  a real ZeroDivisionError:", error.message)
