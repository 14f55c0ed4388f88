// Reductions of one input: so many elements of the input to a workgroup.
module attributes {hal.tuning = [
  {strategy = "reduction", configuration = "tile_config_64x256_0x1_vector"}
]} {}
