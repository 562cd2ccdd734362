"""What a person touches in a notebook: the magic and the widgets."""
