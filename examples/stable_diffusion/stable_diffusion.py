#!/usr/bin/env python3
"""Draws a picture with the three models of Stable Diffusion, each compiled by Kiln, and again with PyTorch, and compares the two.

  examples/stable_diffusion/stable_diffusion.py --build build                                  small models on the CPU
  examples/stable_diffusion/stable_diffusion.py --build build --full --type f16 --device cuda  as large as Stable Diffusion 1.5

The text encoder, the U-Net and the decoder are the architectures of Transformers and Diffusers with seeded random weights, and the words of
the prompt are numbered by their letters: the picture shows nothing. Models are exported to ONNX, compiled with kiln-compile, and called
through libkiln.so (kiln_session.py beside this file). DDIM's steps and the guidance are NumPy's here, and for PyTorch Diffusers' own.

Where IREE_SAVE_TEMPS (or KILN_SAVE_TEMPS) names a folder, kiln-compile keeps a numbered set of input, command line and output there for each
model. With --check the pictures may differ by a tenth of what two swapped output channels of one of the models change; in f16 that is of
what f32 makes of the same numbers, and four times what PyTorch is off in f16 is allowed, too.

Needs what `make frameworks` installs.
"""

import argparse
import contextlib
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRAIN_STEPS, FIRST_BETA, LAST_BETA = 1000, 0.00085, 0.012
SIZES = {  # of Stable Diffusion 1.5, and small ones
    True: {
        "text_encoder": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
                         "vocab_size": 49408, "projection_dim": 768},
        "unet": {"sample_size": 64, "cross_attention_dim": 768},
        "decoder": {"block_out_channels": (128, 256, 512, 512), "down_block_types": ("DownEncoderBlock2D",) * 4,
                    "up_block_types": ("UpDecoderBlock2D",) * 4, "layers_per_block": 2, "sample_size": 512},
    },
    False: {
        "text_encoder": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000,
                         "projection_dim": 64},
        "unet": {"sample_size": 16, "cross_attention_dim": 64, "block_out_channels": (32, 64), "attention_head_dim": 4, "norm_num_groups": 8,
                 "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
                 "layers_per_block": 1},
        "decoder": {"block_out_channels": (16, 32), "down_block_types": ("DownEncoderBlock2D",) * 2,
                    "up_block_types": ("UpDecoderBlock2D",) * 2, "layers_per_block": 1, "norm_num_groups": 8, "sample_size": 32},
    },
}


def make_models(full, torch):
    """The three models by name, each a module from tensors to a tensor."""
    import diffusers
    import transformers
    sizes = SIZES[full]

    class Model(torch.nn.Module):
        def __init__(self, model, call):
            super().__init__()
            self.model, self.call = model, call

        def forward(self, *inputs):
            return self.call(self.model, *inputs)

    models = {
        "text_encoder": Model(transformers.CLIPTextModel(transformers.CLIPTextConfig(**sizes["text_encoder"])),
                              lambda model, tokens: model(tokens).last_hidden_state),
        "unet": Model(diffusers.UNet2DConditionModel(**sizes["unet"]),
                      lambda model, latents, step, states: model(latents, step, states, return_dict=False)[0]),
        "decoder": Model(diffusers.AutoencoderKL(latent_channels=4, **sizes["decoder"]),
                         lambda model, latents: model.decode(latents / model.config.scaling_factor, return_dict=False)[0]),
    }
    for model in models.values():
        seed_weights(model.eval(), torch)
    return models


def seed_weights(model, torch):
    """As large as keeps what comes out of a layer as large as what goes in."""
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
                module.weight.copy_(torch.randn(module.weight.shape, generator=generator) * (1.5 / module.weight[0].numel()) ** 0.5)


def tokens_of(prompt, words, length=77):
    """The prompt between the marks of beginning and end, which fill the rest. A word's number is made of its letters."""
    import numpy as np
    begin, end = words - 2, words - 1
    numbers = [begin, *(zlib.crc32(word.encode()) % begin for word in prompt.split())][: length - 1]
    return np.array([numbers + [end] * (length - len(numbers))], np.int64)


def alphas_of_steps():
    import numpy as np
    return np.cumprod(1 - np.linspace(FIRST_BETA**0.5, LAST_BETA**0.5, TRAIN_STEPS) ** 2)


class Ddim:
    """What is taken of the noise in each step, without any that is new."""

    def __init__(self, steps):
        self.stride, self.alphas = TRAIN_STEPS // steps, alphas_of_steps()
        self.timesteps = [i * self.stride + 1 for i in reversed(range(steps))]

    def step(self, noise, timestep, latents):
        before = timestep - self.stride
        alpha, next_alpha = self.alphas[timestep], self.alphas[max(before, 0)]
        picture = (latents - (1 - alpha) ** 0.5 * noise) / alpha**0.5
        return next_alpha**0.5 * picture + (1 - next_alpha) ** 0.5 * noise


class DiffusersDdim:
    def __init__(self, steps):
        import diffusers
        self.scheduler = diffusers.DDIMScheduler(TRAIN_STEPS, FIRST_BETA, LAST_BETA, "scaled_linear", clip_sample=False,
                                                 set_alpha_to_one=False, steps_offset=1)
        self.scheduler.set_timesteps(steps)
        self.timesteps = [int(step) for step in self.scheduler.timesteps]

    def step(self, noise, timestep, latents):
        import torch
        return self.scheduler.step(torch.from_numpy(noise), timestep, torch.from_numpy(latents)).prev_sample.numpy()


def draw(call, scheduler, options):
    """The picture of the prompt, as numbers from -1 to 1; `call` calls a model by name."""
    import numpy as np
    sizes = SIZES[options.full]
    words, extent = sizes["text_encoder"]["vocab_size"], sizes["unet"]["sample_size"]
    states = [call("text_encoder", tokens_of(prompt, words)) for prompt in ("", options.prompt)]
    latents = np.random.default_rng(options.seed).standard_normal((1, 4, extent, extent)).astype(np.float32)
    for timestep in scheduler.timesteps:
        plain, prompted = call("unet", np.concatenate([latents] * 2), np.array([timestep], np.int64), np.concatenate(states))
        noise = plain + np.float32(options.guidance) * (prompted - plain)
        latents = scheduler.step(noise[None], timestep, latents).astype(np.float32)
    return call("decoder", latents)


def example_inputs(full, torch):
    sizes = SIZES[full]
    extent, width = sizes["unet"]["sample_size"], sizes["unet"]["cross_attention_dim"]
    return {
        "text_encoder": (torch.zeros(1, 77, dtype=torch.int64),),
        "unet": (torch.zeros(2, 4, extent, extent), torch.tensor([1]), torch.zeros(2, 77, width)),
        "decoder": (torch.zeros(1, 4, extent, extent),),
    }


def compile_models(models, options, folder, torch):
    """Paths of the compiled modules by name, and how many seconds kiln-compile took for each."""
    backend = ["--kiln-hal-target-backends=llvm-cpu", "--kiln-llvmcpu-target-cpu=host"]
    if options.device.startswith("cuda"):
        backend = ["--kiln-hal-target-backends=cuda", *(["--kiln-cuda-target=native"] if options.device != "cuda-sim" else [])]
    modules, seconds = {}, {}
    for name, inputs in example_inputs(options.full, torch).items():
        path, modules[name] = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, f"{name}.vmfb")
        model = models[name]
        if options.type == "f16":
            model, inputs = model.half(), tuple(value.half() if value.is_floating_point() else value for value in inputs)
        with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet):
            torch.onnx.export(model, inputs, path, dynamo=True, external_data=options.full)
        model.float()
        began = time.monotonic()
        subprocess.run([os.path.join(options.build, "bin", "kiln-compile"), *backend, path, "-o", modules[name]], check=True)
        seconds[name] = time.monotonic() - began
    return modules, seconds


def draw_with_kiln(modules, options):
    """The picture, and by model the seconds that loading took and those of each call."""
    import numpy as np
    from kiln_session import Device, Session
    device = Device(options.library or os.path.join(options.build, "lib", "libkiln.so"), options.device)
    sessions, loading, calls = {}, {}, {name: [] for name in modules}
    for name, path in modules.items():
        began = time.monotonic()
        sessions[name] = Session(device, path)
        loading[name] = time.monotonic() - began
    kind = np.float16 if options.type == "f16" else np.float32

    def call(name, *inputs):
        inputs = [value.astype(kind) if value.dtype == np.float32 else value for value in inputs]
        began = time.monotonic()
        output, = sessions[name](*inputs)
        calls[name].append(time.monotonic() - began)
        return output.astype(np.float32)

    return draw(call, Ddim(options.steps), options), loading, calls


def draw_with_torch(models, options, torch, kind="f32"):
    """The picture, and by model the seconds of each call."""
    import numpy as np
    place = "cuda" if options.device.startswith("cuda") and torch.cuda.is_available() else "cpu"
    calls = {name: [] for name in models}
    for model in models.values():
        model.to(place, torch.float16 if kind == "f16" else torch.float32)

    def call(name, *inputs):
        inputs = [torch.from_numpy(value).to(place) for value in inputs]
        if kind == "f16":
            inputs = [value.half() if value.is_floating_point() else value for value in inputs]
        began = time.monotonic()
        with torch.no_grad():
            output = models[name](*inputs).cpu().numpy()
        calls[name].append(time.monotonic() - began)
        return output.astype(np.float32)

    picture = draw(call, DiffusersDdim(options.steps), options)
    for model in models.values():
        model.to("cpu", torch.float32)
    return picture, calls


def largest_difference(reference, picture):
    return abs(picture - reference).max() / abs(reference).max()


def changes_by_swaps(reference, models, options, torch):
    """How much the picture changes where two output channels of the middle layer of each model are swapped."""
    used = {name: [] for name in models}
    hooks = [layer.register_forward_hook(lambda layer, *_, name=name: used[name].append(layer))
             for name, model in models.items() for layer in model.modules()
             if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d)) and layer.weight.shape[0] >= 4]
    draw_with_torch(models, options, torch)
    for hook in hooks:
        hook.remove()
    changes = {}
    for name, layers in used.items():
        weight = layers[len(layers) // 2].weight
        kept = weight.detach().clone()
        with torch.no_grad():
            weight[[0, 1]] = kept[[1, 0]]
            changes[name] = largest_difference(reference, draw_with_torch(models, options, torch)[0])
            weight.copy_(kept)
    return changes


def save_picture(picture, path):
    import numpy as np
    from PIL import Image
    Image.fromarray(((picture[0].transpose(1, 2, 0) / 2 + 0.5).clip(0, 1) * 255).round().astype(np.uint8)).save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the folder of Kiln's bin and lib")
    parser.add_argument("--library", help="libkiln.so, where it is elsewhere")
    parser.add_argument("--prompt", default="a photograph of an astronaut riding a horse")
    parser.add_argument("--steps", type=int, default=4, help="how often noise is taken away")
    parser.add_argument("--guidance", type=float, default=7.5, help="how much the prompt counts")
    parser.add_argument("--seed", type=int, default=0, help="of the noise in the beginning")
    parser.add_argument("--full", action="store_true", help="models as large as those of Stable Diffusion 1.5")
    parser.add_argument("--type", choices=["f32", "f16"], default="f32", help="of weights and of what is computed")
    parser.add_argument("--device", default="local-task", help="local-task, local-sync, cuda or cuda-sim")
    parser.add_argument("--output", default="picture.png", help="where the picture goes")
    parser.add_argument("--keep", help="a folder for the exported models and the modules")
    parser.add_argument("--check", action="store_true", help="fail where the pictures differ by more than swapped channels allow")
    options = parser.parse_args()
    python = os.path.join(options.build, "frameworks", "bin", "python3")
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(options.build, "frameworks")) and os.path.exists(python):
        os.execv(python, [python, *sys.argv])
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import torch
    torch.manual_seed(5)
    models = make_models(options.full, torch)
    if options.type == "f16":  # PyTorch computes in f32 with the same numbers
        models = {name: model.half().float() for name, model in models.items()}
    with contextlib.ExitStack() as stack:
        folder = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(folder, exist_ok=True)
        modules, compiling = compile_models(models, options, folder, torch)
        picture, loading, calls = draw_with_kiln(modules, options)
    save_picture(picture, options.output)
    reference, torch_calls = draw_with_torch(models, options, torch)
    print(f"{'model':<14}{'compile s':>10}{'load s':>8}{'calls':>7}{'ms a call':>11}{'PyTorch ms':>12}")
    middle = lambda seconds: sorted(seconds)[len(seconds) // 2] * 1e3
    for name in modules:
        print(f"{name:<14}{compiling[name]:>10.2f}{loading[name]:>8.2f}{len(calls[name]):>7}{middle(calls[name]):>11.2f}"
              f"{middle(torch_calls[name]):>12.2f}")
    found = largest_difference(reference, picture)
    print(f"{options.output}: {picture.shape[3]}x{picture.shape[2]}, {options.steps} steps; "
          f"differs from PyTorch's by {found:.2g} of the largest number")
    if not options.check:
        return 0
    changes = changes_by_swaps(reference, models, options, torch)
    allowed = min(changes.values()) / 10
    remark = ""
    if options.type == "f16":
        rounding = largest_difference(reference, draw_with_torch(models, options, torch, "f16")[0])
        allowed = max(allowed, 4 * rounding)
        remark = f"; PyTorch in f16 differs by {rounding:.2g}"
    right = found <= allowed and 1e-6 < allowed <= max(changes.values()) / 10  # of noise no tolerance can be made
    print(f"{'right' if right else 'WRONG'}: may differ by {allowed:.2g}; swapped channels change it by "
          + ", ".join(f"{change:.2g} ({name})" for name, change in changes.items()) + remark)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
