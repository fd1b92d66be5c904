import type { Exchange, Receive } from "../../extproc/peers/exchange.js";
import type { Weather } from "./weather.js";

/**
 * Loses messages on their way in, as the weather has it. Each message carries its sender's number in front, so that a partition
 * holds whoever has passed it on.
 */
export class FaultyExchange implements Exchange {
  constructor(
    private readonly inner: Exchange,
    private readonly self: number,
    private readonly weather: () => Weather,
  ) {}

  get name(): Exchange["name"] {
    return this.inner.name;
  }

  get reachable(): number | undefined {
    return this.inner.reachable;
  }

  listen(receive: Receive): void {
    this.inner.listen((bytes) => {
      const [sender] = bytes;
      if (sender === undefined) return false;
      // A lost message is no bad one: who passes it on goes on doing so.
      return this.isLost(sender) || receive(bytes.subarray(1));
    });
  }

  publish(bytes: Uint8Array): void {
    this.inner.publish(Buffer.concat([Buffer.of(this.self), bytes]));
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private isLost(sender: number): boolean {
    if (sender === this.self) return false;
    const { lossPercent, deafTo } = this.weather();
    return deafTo.includes(sender) || Math.random() * 100 < lossPercent;
  }
}
