// Whole runs of a GGUF file beside llama.cpp, on its CPU libraries as the npm package node-llama-cpp carries them:
//
//     node llama_cpp.mjs PROGRAM FILE.gguf FOLDER [REPETITIONS]
//
// Fetches the package into FOLDER. Both read the same ids, and before anything is timed their five likeliest next tokens
// have to agree, after few tokens: llama.cpp rounds activations to 8 bits, which adds up with random weights. A prompt is attnviz's whole process, from its start on, with the patterns of all heads pooled into an
// overview, beside llama.cpp's evaluation alone, without patterns, the model loaded before. A token is what one more
// takes after 16: for attnviz, the difference between processes that write 33 and one.
// Runs alternate; medians.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [program, file, folder, repetitions = "5"] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node llama_cpp.mjs PROGRAM FILE.gguf FOLDER [REPETITIONS]");
  process.exit(2);
}
if (!fs.existsSync(path.join(folder, "node_modules", "node-llama-cpp"))) {
  fs.mkdirSync(folder, { recursive: true });
  const install = ["install", "--prefix", folder, "--no-audit", "--ignore-scripts", "node-llama-cpp@3"];
  execFileSync("npm", install, { stdio: "inherit" });
}
const require = createRequire(path.resolve(folder, "from_here.js"));
const { getLlama } = await import(pathToFileURL(require.resolve("node-llama-cpp")));

const PROMPT = 512;
const BEGIN = 16;
const FEW = 8;
const TOKENS = 32;
const N_IDS = 100_000;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "llama_cpp_bench_"));

const idsOf = (n) => Array.from({ length: n }, (_, i) => (i * 7919) % N_IDS);

function attnviz(threads, ...options) {
  const begin = performance.now();
  const ended = spawnSync(program, options.concat("--threads", `${threads}`), { maxBuffer: 1 << 30 });
  if (ended.status !== 0) {
    throw new Error(`${program} ${options.join(" ")}: ${ended.stderr}`);
  }
  return { ms: performance.now() - begin, out: `${ended.stdout}` };
}

const median = (values) => values.slice().sort((a, b) => a - b)[values.length >> 1];

// Of calls in turns, after one round that does not count.
function alternate(...calls) {
  return (async () => {
    const times = calls.map(() => []);
    for (let round = 0; round <= Number(repetitions); round++) {
      for (const [i, call] of calls.entries()) {
        const ms = await call();
        if (round > 0) {
          times[i].push(ms);
        }
      }
    }
    return times.map(median);
  })();
}

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: 0 });
const model = await llama.loadModel({ modelPath: file, gpuLayers: 0 });

async function evaluation(threads) {
  const context = await model.createContext({
    contextSize: 1024, batchSize: PROMPT, threads: { ideal: threads, min: threads }, flashAttention: false,
  });
  const sequence = context.getSequence();
  const ids = idsOf(PROMPT);
  return {
    context,
    async prompt() {
      await sequence.clearHistory();
      const begin = performance.now();
      await sequence.controlledEvaluate([...ids.slice(0, -1), [ids.at(-1), { generateNext: { token: true } }]]);
      return performance.now() - begin;
    },
    async token() {
      await sequence.clearHistory();
      await sequence.controlledEvaluate(ids.slice(0, BEGIN));
      let next = ids[BEGIN];
      const begin = performance.now();
      for (let i = 0; i < TOKENS; i++) {
        const result = await sequence.controlledEvaluate([[next, { generateNext: { token: true } }]]);
        next = result[0].next.token;
      }
      return (performance.now() - begin) / TOKENS;
    },
    async nextTokens(after) {
      await sequence.clearHistory();
      const next = { generateNext: { probabilities: true } };
      const results = await sequence.controlledEvaluate([...ids.slice(0, after - 1), [ids[after - 1], next]]);
      return [...results.at(-1).next.probabilities.keys()].slice(0, 5);
    },
  };
}

console.log(`${"".padEnd(34)}attnviz   llama.cpp   ratio`);
const row = (name, [ours, theirs]) =>
  console.log(`${name.padEnd(30)}${ours.toFixed(1).padStart(8)} ms${theirs.toFixed(1).padStart(9)} ms` +
    `${(theirs / ours).toFixed(2).padStart(6)} x`);

for (let threads = 1; threads <= os.availableParallelism(); threads *= 2) {
  const theirs = await evaluation(threads);
  const prompt = ["-m", file, "--ids", idsOf(PROMPT).join(",")];
  if (threads === 1) {
    const others = await theirs.nextTokens(FEW);
    const few = ["-m", file, "--ids", idsOf(FEW).join(",")];
    const { lens } = JSON.parse(attnviz(threads, "why", ...few, "--lens", "--json").out);
    const ours = lens.at(-1).top.slice(0, 5);
    const names = (ids) => ids.slice().sort().join(" ");
    console.log(`next: ${names(ours.map(({ id }) => id))}; llama.cpp: ${names(others)}`);
    if (names(ours.map(({ id }) => id)) !== names(others)) {
      throw new Error("the likeliest next tokens do not agree");
    }
  }
  const picture = path.join(scratch, "heads.png");
  const plural = threads > 1 ? "threads" : "thread";
  row(`prompt of ${PROMPT}, ${threads} ${plural}`, await alternate(
    () => attnviz(threads, "-q", ...prompt, "-o", picture).ms,
    () => theirs.prompt(),
  ));
  const begin = ["-q", "-m", file, "--ids", idsOf(BEGIN + 1).join(","), "--head", "0.0", "-o", picture];
  const write = (count) => attnviz(threads, ...begin, "--generate", `${count}`).ms;
  row(`a token after ${BEGIN}, ${threads} ${plural}`, await alternate(
    () => (write(TOKENS + 1) - write(1)) / TOKENS,
    () => theirs.token(),
  ));
  await theirs.context.dispose();
}
fs.rmSync(scratch, { recursive: true });
await llama.dispose();
