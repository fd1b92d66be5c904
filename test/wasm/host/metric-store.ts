const HISTOGRAM = 2;

/** Metrics by name, as Envoy shares them over its workers. */
export class MetricStore {
  readonly #ids = new Map<string, number>();
  readonly #values: bigint[] = [];
  /** Of histograms, by id. */
  readonly #samples = new Map<number, number[]>();

  /** Defining a name again gives the same id. */
  define(name: string, kind = 0): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.#values.push(0n);
    if (kind === HISTOGRAM) this.#samples.set(id, []);
    this.#ids.set(name, id);
    return id;
  }

  add(id: number, offset: bigint): boolean {
    return this.record(id, (this.#values[id - 1] ?? 0n) + offset);
  }

  record(id: number, value: bigint): boolean {
    if (id < 1 || id > this.#values.length) return false;
    this.#samples.get(id)?.push(Number(value));
    this.#values[id - 1] = value;
    return true;
  }

  byId(id: number): bigint | undefined {
    return this.#values[id - 1];
  }

  /** The value of the one metric whose name ends so; 0 when nobody defined it. */
  value(name: string): number {
    return Number(this.#values[(this.#ids.get(name) ?? 0) - 1] ?? 0n);
  }

  /** All samples of a histogram. */
  samples(name: string): readonly number[] {
    return this.#samples.get(this.#ids.get(name) ?? 0) ?? [];
  }

  get names(): string[] {
    return [...this.#ids.keys()];
  }
}
