"""llama.cpp's own OpenAI-compatible server with one model, on loopback: python server.py MODEL.gguf PORT"""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
# The context is split over the slots: 1024 tokens each.
params.n_ctx = 4096
params.n_parallel = 4
# One thread: two spin while they wait for each other, which on two busy cores is slower by far.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.endpoint_metrics = True
server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
signal.pause()
