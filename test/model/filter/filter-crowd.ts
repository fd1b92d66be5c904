import type { HttpCall } from "../../wasm/host/http-call.js";
import { World } from "../../wasm/host/world.js";
import { completion, jsonHead } from "../../wasm/recovery.js";
import { Worker } from "../../wasm/worker.js";
import { liveAt, rules } from "../crowd/invariants.js";
import { Observer } from "../crowd/observer.js";
import { pausesMs, waitsMs } from "../crowd/picks.js";
import type { Step, StepKind, Turn } from "../crowd/step.js";
import { recordKey, WatchedStore } from "../crowd/watched-store.js";
import { modelPolicy, settings } from "../policy.js";
import type { Layout } from "../record/layout.js";
import { State } from "../record/names.js";
import type { Snapshot } from "../record/snapshot.js";
import { Request } from "./request.js";

const longestPauseMs = 2_000;
const failed = { ":status": "500", "content-type": "application/json" };
const throttled = { ":status": "429", "content-type": "application/json", "retry-after": "2" };
const refused = { ":status": "400", "content-type": "application/json" };

interface Running {
  readonly worker: number;
  readonly request: Request;
  /** Let through by a ramp's permit. */
  readonly isCanary: boolean;
}

interface Probe {
  readonly worker: number;
  readonly call: HttpCall;
  readonly leaseUntilMs: number;
}

/** Workers with the whole filter in its three positions, their requests and their probes; one store and one clock. */
export class FilterCrowd {
  readonly world: World;
  readonly observer: Observer;
  readonly #store = new WatchedStore();
  readonly #workers: Worker[];
  readonly #busy = new Set<number>();
  #running: Running[] = [];
  #probes: Probe[] = [];
  #within: Step[] = [];
  #refusals = 0;
  /** Requests that came to an end, by the status that their callers got. */
  readonly answers = new Map<number, number>();

  constructor(count: number, layout: Layout) {
    this.world = new World(undefined, 1, this.#store);
    this.#workers = Array.from({ length: count }, () => new Worker(this.world, modelPolicy));
    this.observer = new Observer(this.#store, layout, () => this.world.clock.nowMs, false);
    this.#store.afterGet = (key) => this.#afterGet(key);
    this.#store.refuses = (key) => key === recordKey && this.#refusals-- > 0;
  }

  run({ step, within, refusals }: Turn): void {
    this.#within = [...within];
    // An update that is given up may leave a permit to its deadline.
    this.#refusals = refusals % 16;
    this.#act(step);
    this.#within = [];
    this.#refusals = 0;
  }

  /** All requests end, and all probes: then no permit is held but those of VMs that died. */
  rest(): void {
    for (const running of [...this.#running]) this.#end(running, jsonHead, completion);
    for (const probe of [...this.#probes]) this.#answerProbe(probe, true);
    const held = liveAt(this.observer.read(this.#store), this.world.clock.nowMs).length;
    if (held > this.#lost) this.observer.blame(rules.permits, `${held} are held at rest, ${this.#lost} lost`);
    this.world.clock.advance(settings.permitTimeoutMs);
    const dead = liveAt(this.observer.read(this.#store), this.world.clock.nowMs).length;
    if (dead > 0) this.observer.blame(rules.permits, `${dead} are held for ever`);
    const complaints = this.#workers.flatMap(({ vm }) => vm.logs).filter(({ level }) => level >= 4);
    if (complaints[0]) this.observer.blame("nothing is complained of", complaints[0].text);
  }

  /** Canaries that went with their VMs. */
  #lost = 0;

  #afterGet(key: string): void {
    const next = key === recordKey ? this.#within.shift() : undefined;
    if (!next) return;
    this.world.clock.advance(pausesMs[next.pick % pausesMs.length] ?? 0);
    this.#act(next);
  }

  readonly #acts: Readonly<Partial<Record<StepKind, (worker: number, pick: number) => void>>> = {
    arrive: (worker) => this.#arrive(worker),
    succeed: (worker, pick) => this.#endOne(worker + pick, jsonHead, completion),
    fail: (worker, pick) => this.#endOne(worker + pick, failed, pick % 2 ? "no" : "CUDA out of memory"),
    mild: (worker, pick) => this.#endOne(worker + pick, pick % 2 ? refused : throttled, "{}"),
    leave: (worker, pick) => this.#leave(worker + pick),
    tick: (worker) => this.#tick(worker),
    answerProbe: (_, pick) => {
      const probe = this.#probes.find(({ worker }) => !this.#busy.has(worker));
      if (probe) this.#answerProbe(probe, pick % 4 !== 3);
    },
    wait: (_, pick) => this.#wait(waitsMs[pick] ?? this.#untilDueMs()),
    restart: (worker) => this.#restart(worker),
  };

  #act({ kind, worker, pick }: Step): void {
    const free = this.#workers.findIndex(
      (_, index) => !this.#busy.has((worker + index) % this.#workers.length),
    );
    if (free >= 0) this.#acts[kind]?.((worker + free) % this.#workers.length, pick);
  }

  /** Callbacks of one worker, which does nothing else meanwhile. */
  #as<T>(worker: number, callbacks: (worker: Worker) => T): T {
    this.#busy.add(worker);
    try {
      return callbacks(this.#workers[worker] as Worker);
    } finally {
      this.#busy.delete(worker);
    }
  }

  #wait(ms: number): void {
    this.world.clock.advance(this.#busy.size > 0 ? Math.min(ms, longestPauseMs) : ms);
  }

  #untilDueMs(): number {
    const { state, openUntilMs, probeLeaseUntilMs } = this.observer.read(this.#store);
    return Math.max(0, (state === State.open ? openUntilMs : probeLeaseUntilMs) - this.world.clock.nowMs);
  }

  #arrive(worker: number): void {
    const before = this.observer.read(this.#store);
    const request = this.#as(worker, (by) => new Request(by));
    if (request.isAt("gpu")) this.#admitted(worker, request, before);
    else this.#as(worker, () => this.#finish(request));
  }

  #admitted(worker: number, request: Request, before: Snapshot): void {
    const after = this.observer.read(this.#store);
    const isSame = before.generation === after.generation;
    if (isSame && after.state === State.open) this.observer.blame(rules.closedDoor, "a request while Open");
    if (isSame && after.state === State.halfOpen && after.stage === 0)
      this.observer.blame(rules.closedDoor, "a request while probing");
    const isCanary = isSame && after.state === State.halfOpen;
    this.#running.push({ worker, request, isCanary });
    const cap = settings.stages[after.stage - 1]?.maxConcurrent ?? 0;
    const atOnce = this.#running.filter((each) => each.isCanary).length;
    if (isCanary && this.#isRenewed && atOnce > cap)
      this.observer.blame(rules.cap, `${atOnce} canaries of ${cap}`);
  }

  /** Whether no worker was silent for a permit's time. */
  get #isRenewed(): boolean {
    return this.#running.every(
      ({ request }) => this.world.clock.nowMs < request.startMs + settings.permitTimeoutMs,
    );
  }

  #finish(request: Request): void {
    const status = request.finish();
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }

  #endOne(which: number, headers: Readonly<Record<string, string>>, body: string): void {
    const running = this.#runningOf(which);
    if (running) this.#end(running, headers, body);
  }

  #runningOf(which: number): Running | undefined {
    const free = this.#running.filter(({ worker }) => !this.#busy.has(worker));
    return free[which % free.length];
  }

  #end(running: Running, headers: Readonly<Record<string, string>>, body: string): void {
    this.#running = this.#running.filter((each) => each !== running);
    this.#as(running.worker, () => {
      running.request.answer(headers, body);
      this.#finish(running.request);
    });
  }

  #leave(which: number): void {
    const running = this.#runningOf(which);
    if (!running) return;
    this.#running = this.#running.filter((each) => each !== running);
    this.#as(running.worker, () => running.request.leave());
  }

  #tick(worker: number): void {
    const before = this.world.httpCalls.length;
    this.#as(worker, ({ vm, gate, admit, meter }) => {
      for (const root of [gate, admit, meter]) vm.tick(root);
    });
    const calls = this.world.httpCalls.slice(before).filter(({ vm }) => vm === this.#workers[worker]?.vm);
    const { state, stage, clockMs } = this.observer.read(this.#store);
    for (const call of calls) {
      const isProbe = state === State.halfOpen && stage === 0;
      const rivals = this.#probes.filter(({ leaseUntilMs }) => leaseUntilMs > clockMs);
      if (isProbe && rivals.length > 0) this.observer.blame(rules.oneProbe, `${rivals.length + 1} at once`);
      this.#probes.push({ worker, call, leaseUntilMs: isProbe ? clockMs + settings.probeLeaseMs : 0 });
    }
  }

  #answerProbe(probe: Probe, isWell: boolean): void {
    this.#probes = this.#probes.filter((each) => each !== probe);
    const { call, worker } = probe;
    this.#as(worker, ({ vm }) =>
      vm.answerHttpCall(call, isWell ? jsonHead : failed, isWell ? completion : "no"),
    );
  }

  /** A trap: what the VM had under way is cut, and no callback tells of it. */
  #restart(worker: number): void {
    const isDead = (each: { readonly worker: number }): boolean => each.worker === worker;
    this.#lost += this.#running.filter((each) => isDead(each)).length;
    this.#lost += this.#probes.filter((each) => isDead(each)).length;
    this.#running = this.#running.filter((each) => !isDead(each));
    this.#probes = this.#probes.filter((each) => !isDead(each));
    this.#workers[worker] = new Worker(this.world, modelPolicy);
  }
}
