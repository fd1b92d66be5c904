import type { Second } from "./contract.js";
import { type RecordedSecond, SecondRing } from "./second-ring.js";

/** The last hour of each backend, over all gateways; what holds nothing any more makes room. */
export class SecondRings {
  private readonly rings = new Map<string, SecondRing>();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.rings.size;
  }

  add(backend: string, atMs: number, second: Second, now: number): void {
    this.ringOf(backend, now)?.add(atMs, second);
  }

  /** Oldest first; empty for one that nobody reported. */
  list(backend: string, now: number, wallNow: number): RecordedSecond[] {
    return this.rings.get(backend)?.list(now, wallNow) ?? [];
  }

  private ringOf(backend: string, now: number): SecondRing | undefined {
    const known = this.rings.get(backend);
    if (known !== undefined) return known;
    if (this.rings.size >= this.most) this.dropEmpty(now);
    if (this.rings.size >= this.most) return undefined;
    const ring = new SecondRing();
    this.rings.set(backend, ring);
    return ring;
  }

  private dropEmpty(now: number): void {
    for (const [name, ring] of this.rings) if (ring.isOver(now)) this.rings.delete(name);
  }
}
