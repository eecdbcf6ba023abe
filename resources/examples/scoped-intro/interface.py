"""A model behind three functions. Give it any causal or encoder model: --model NAME=FOLDER."""

import torch
from transformers import AutoModel, AutoTokenizer

model_id = list_configured_models()[0]
model_path = get_model_path(model_id)
model = AutoModel.from_pretrained(model_path)
tokenizer = AutoTokenizer.from_pretrained(model_path)


def hidden_state(text: str) -> torch.Tensor:
    inputs = tokenizer(text, return_tensors="pt").to(model.device)
    with torch.no_grad():
        outputs = model(**inputs, output_hidden_states=True)
    return outputs.hidden_states[-1].mean(dim=1).squeeze(0)


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
    """Get the mean last hidden state of a text.

    Args:
        text: What to embed.
    """
    return {"embedding": hidden_state(text).tolist()}


@expose
def compare_texts(text1: str, text2: str) -> dict:
    """Cosine similarity of two texts.

    Args:
        text1: One text.
        text2: The other.
    """
    similarity = torch.nn.functional.cosine_similarity(hidden_state(text1), hidden_state(text2), dim=0)
    return {"text1": text1, "text2": text2, "similarity": similarity.item()}
