# Lit tests beside the code. One configuration serves them and tests/; it lives there.
config.name = "src"
lit_config.load_config(config, __file__.rsplit("/src/", 1)[0] + "/tests/lit.cfg.py")
