# The usage guide's shape: paths from the environment, configured models listed, state at module level, a helper.
import os

import torch
from helper_beside import shape_of
from transformers import AutoModelForCausalLM

model_path = os.environ["MODEL_GOOGLE_GEMMA_2_9B_PATH"]
model = AutoModelForCausalLM.from_pretrained(model_path, torch_dtype=torch.float32)
again = AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32)
cache = {}


@expose
def get_activations(tokens: list, layer: int) -> dict:
    """Extract activations at a specific layer."""
    with torch.no_grad():
        outputs = model(torch.tensor([tokens]), output_hidden_states=True)
    activations = outputs.hidden_states[layer].mean(dim=0)
    cache[str(tokens)] = layer
    return {"activations": activations.tolist(), "shape": shape_of(activations), "layer": layer}


@expose
def list_cache() -> dict:
    """List cached items."""
    return {"cache": list(cache.keys())}


@expose
def continue_tokens(tokens: list, max_tokens: int = 5) -> dict:
    """Generate."""
    outputs = model.generate(torch.tensor([tokens]), max_new_tokens=max_tokens, do_sample=False)
    return {"tokens": outputs[0].tolist()}


@expose
def show_models():
    return list_configured_models()


def _internal_helper():
    pass


if __name__ == "__main__":
    cache["started"] = 0
