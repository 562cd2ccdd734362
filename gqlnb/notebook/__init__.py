"""The notebook interface: magics, completion and widgets."""
