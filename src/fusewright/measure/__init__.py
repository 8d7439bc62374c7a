"""Run problems on a device, many at once, at timings one can trust.

`meter` turns records into work for a `supervisor`, which never touches the device. It starts one
`zygote`, which has imported PyTorch; the zygote forks `worker`s; a worker runs one candidate after
another, holding the device's `lease` whenever it touches the device. Everything but `meter` needs
the standard library and PyTorch alone.
"""
