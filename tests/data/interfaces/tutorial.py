# The tutorial's shape: a configured model by injected path, two functions that return lists and numbers.
from transformers import AutoModel, AutoTokenizer
import torch

model_path = get_model_path("google/gemma-2-9b")
model = AutoModel.from_pretrained(model_path, device_map="auto")
tokenizer = AutoTokenizer.from_pretrained(model_path)


@expose
def get_model_info() -> dict:
    """Get basic model information."""
    return {
        "num_layers": model.config.num_hidden_layers,
        "hidden_size": model.config.hidden_size,
        "vocab_size": model.config.vocab_size,
    }


@expose
def get_embedding(text: str) -> dict:
    """Get text embedding from model."""
    inputs = tokenizer(text, return_tensors="pt").to(model.device)
    with torch.no_grad():
        outputs = model(**inputs, output_hidden_states=True)
    embedding = outputs.hidden_states[-1].mean(dim=1).squeeze()
    return {"embedding": embedding.tolist()}


@expose
def compare_texts(text1: str, text2: str) -> dict:
    """Compare similarity of two texts."""
    with torch.no_grad():
        means = [model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
                 .hidden_states[-1].mean(dim=1) for text in (text1, text2)]
    similarity = torch.nn.functional.cosine_similarity(means[0], means[1]).item()
    return {"text1": text1, "text2": text2, "similarity": similarity}


@expose
def forgotten_tolist(text: str) -> dict:
    """Returns a tensor where a list belongs."""
    with torch.no_grad():
        outputs = model(**tokenizer(text, return_tensors="pt"))
    return {"layers": [1, {"state": outputs.last_hidden_state}]}
