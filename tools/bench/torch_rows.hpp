// What PyTorch does for each row: a program in its own language, which a TorchProcess runs. Nothing
// of Tapestry needs it. It reads lines and answers each with one:
//   row softmax forward 32768 x 128   "yes", and that work is made ready; "no" if it knows no such
//   time                              the seconds of one call of that work
// Its first line is "PyTorch VERSION GFLOPS", the latter of a product of 512 x 512 x 512, which
// tells a fast BLAS from the reference one; or "none WHY".
#pragma once

namespace tapestry::bench {

inline constexpr char torch_rows[] = R"python(
import ctypes, math, os, re, sys, time
# One thread: with two, 2.6.0's own threads and OpenBLAS's hinder each other (a training step of
# width 64 takes 112 ms instead of 4). OpenBLAS reads its number when it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
try:
    import torch
    import torch.nn.functional as F
except Exception as problem:
    print("none", str(problem).splitlines()[0], flush=True)
    sys.exit()
torch.set_num_threads(1)
# glibc gives large blocks back to the system, which makes them anew page by page: up to a hundred
# times the time of an operation, where pages are slow. PyTorch keeps its memory, as ours does.
libc = ctypes.CDLL(None)
mallopt = getattr(libc, "mallopt", lambda option, value: 0)
mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
mallopt(-2, 2**28)      # M_TOP_PAD
mallopt(-4, 0)          # M_MMAP_MAX
torch.manual_seed(42)

def numbers(*shape):
    return torch.randn(*shape)

def watched(*shape):
    return torch.randn(*shape, requires_grad=True)

def without_tape(work):
    def run():
        with torch.no_grad():
            work()
    return run

# A backward pass after its forward pass, which is not timed.
class Backward:
    def __init__(self, forward, inputs, dy):
        self.forward, self.inputs, self.dy = forward, inputs, dy

    def before(self):
        self.y = self.forward()

    def __call__(self):
        torch.autograd.grad(self.y, self.inputs, self.dy)

def either(name, work, inputs, dy):
    return Backward(work, inputs, dy) if "backward" in name else without_tape(work)

def product(name, n):
    a, b = numbers(n[0], n[2]), numbers(n[2], n[1])
    if "transposed" in name:
        b = numbers(n[1], n[2]).t()
    c = torch.empty(n[0], n[1])
    return lambda: torch.mm(a, b, out=c)

def batched(name, n):
    a, b = numbers(n[0], n[1], n[2]), numbers(n[0], n[3], n[4])
    if "A transp" in name:
        a = numbers(n[0], n[2], n[1]).transpose(1, 2)
    if "B transp" in name:
        b = numbers(n[0], n[4], n[3]).transpose(1, 2)
    return lambda: torch.matmul(a, b)

def softmax(name, n):
    x = watched(n[0], n[1])
    return either(name, lambda: torch.softmax(x, -1), [x], numbers(n[0], n[1]))

def gelu(name, n):
    x = watched(n[0], n[1])
    return either(name, lambda: F.gelu(x), [x], numbers(n[0], n[1]))

def layer_norm(name, n):
    x, gain, bias = watched(n[0], n[1]), watched(n[1]), watched(n[1])
    norm = lambda: F.layer_norm(x, (n[1],), gain, bias)
    return either(name, norm, [x, gain, bias], numbers(n[0], n[1]))

def rms_norm(name, n):
    x, gain = watched(n[0], n[1]), watched(n[1])
    norm = lambda: F.rms_norm(x, (n[1],), gain, 1e-5)
    return either(name, norm, [x, gain], numbers(n[0], n[1]))

def of_rows(function):
    def make(name, n):
        x = numbers(n[0], n[1])
        return without_tape(lambda: function(x))
    return make

def bias_add(name, n):
    x, bias = numbers(n[0], n[1]), numbers(n[2])
    return lambda: x + bias

def sum_of_all(name, n):
    x = torch.ones(n[0])
    return lambda: x.sum()

def cross_entropy(name, n):
    logits, targets = watched(n[0], n[1]), torch.randint(n[1], (n[0],))
    return lambda: torch.autograd.grad(F.cross_entropy(logits, targets), [logits])

def embedding(name, n):
    table, ids = watched(n[1], n[2]), torch.randint(n[1], (n[0],))
    return Backward(lambda: F.embedding(ids, table), [table], numbers(n[0], n[2]))

def adamw(name, n):
    weight = watched(n[0])
    weight.grad = numbers(n[0])
    return torch.optim.AdamW([weight], weight_decay=0.01).step

def attention(name, n):
    q, k, v = (watched(*n) for _ in range(3))
    attend = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    if "both ways" not in name:
        return without_tape(attend)
    dy = numbers(*n)
    return lambda: torch.autograd.grad(attend(), [q, k, v], dy)

class Attention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.maps = torch.nn.ModuleList(torch.nn.Linear(width, width, bias=False) for _ in "qkvo")

    def forward(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = (split(self.maps[i](x)) for i in range(3))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.maps[3](seen.transpose(1, 2).flatten(2))

class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.attention = Attention(width, heads)
        self.wide = torch.nn.Linear(width, 4 * width)
        self.narrow = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.narrow(F.gelu(self.wide(self.norms[1](x))))

class Gpt(torch.nn.Module):
    def __init__(self, words, length, width, heads, layers):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.places = torch.nn.Embedding(length, width)
        self.blocks = torch.nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.out = torch.nn.LayerNorm(width), torch.nn.Linear(width, words, bias=False)

    def forward(self, ids):
        return self.out(self.norm(self.blocks(self.words(ids) + self.places.weight)))

def layer(name, n):
    model, x = Attention(n[2], n[3]), numbers(*n[:3])
    if "both ways" not in name:
        return without_tape(lambda: model(x))
    return lambda: torch.autograd.grad(model(x).sum(), list(model.parameters()))

def gpt_step(name, n):
    batch, words, length = n[:3]
    model = Gpt(words, length, *n[3:])
    adam = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
    ids, targets = (torch.randint(words, (batch, length)) for _ in range(2))
    def step():
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(ids).flatten(0, 1), targets.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    return step

works = {
    "matmul": product, "batched matmul": batched, "softmax": softmax, "layer norm": layer_norm,
    "rms norm": rms_norm, "gelu": gelu, "moving bias add": bias_add,
    "moving dropout": of_rows(lambda x: F.dropout(x, 0.1)),
    "moving sum of rows": of_rows(lambda x: x.sum(-1)),
    "moving sum of columns": of_rows(lambda x: x.sum(0)),
    "moving max of rows": of_rows(lambda x: x.amax(-1)),
    "moving cumsum of rows": of_rows(lambda x: x.cumsum(-1)),
    "moving cumsum of columns": of_rows(lambda x: x.cumsum(0)), "moving sum of": sum_of_all,
    "moving cross entropy": cross_entropy, "moving embedding backward": embedding,
    "moving AdamW step": adamw, "attention": attention, "model layer": layer,
    "model GPT step": gpt_step,
}

def prepared(name):
    fitting = [begin for begin in works if name.startswith(begin)]
    if not fitting:
        return None
    sizes = [int(digits) for digits in re.findall(r"\d+", name)]
    try:
        work = works[max(fitting, key=len)](name, sizes)
        for _ in range(2):
            time_of(work)
        return work
    except AttributeError:  # an older version
        return None

def time_of(work):
    before = getattr(work, "before", None)
    if before:
        before()
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    calls = math.ceil(2e-5 / once) if once < 2e-5 else 0  # short ones several at once
    if before or calls == 0:
        return once
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls

work = product("", [512, 512, 512])
best = min(time_of(work) for _ in range(100))
print("PyTorch", torch.__version__, 2 * 512**3 / best / 1e9, flush=True)
for line in sys.stdin:
    if line.startswith("row "):
        work = None  # frees its arrays
        work = prepared(line[4:].strip())
        print("no" if work is None else "yes", flush=True)
    else:
        print(time_of(work), flush=True)
)python";

}  // namespace tapestry::bench
