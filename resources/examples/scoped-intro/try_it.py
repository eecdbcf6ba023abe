"""The functions of the box from a script of yours; the model itself stays in the box.

    glovebox expose model_tools --as library      # writes model_tools.py here
    python3 try_it.py
"""

import model_tools

embedding = model_tools.get_embedding("hello world")["embedding"]
print('get_embedding("hello world")  ', len(embedding), "numbers, the first", [round(x, 3) for x in embedding[:3]])

for one, other in [("cat", "dog"), ("cat", "locomotive"), ("dog", "locomotive")]:
    alike = model_tools.compare_texts(one, other)["similarity"]
    print(f"compare_texts({one}, {other})".ljust(30), f"{alike:.3f}")
