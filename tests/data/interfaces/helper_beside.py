def shape_of(tensor):
    return list(tensor.shape)
