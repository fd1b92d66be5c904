import { connect, type Socket } from "node:net";
import type { Random } from "../../demo/random.js";
import { UnexpectedAnswerError } from "../load/caller.js";
import { ChunkedBody, readHead } from "../load/message.js";
import { type Leave, nextPlan, type Plan } from "./moments.js";

export interface CallerTotals {
  completed: number;
  aborted: number;
}

/** Sends requests one after another; after leaving one it comes back on a new connection. */
export class RestlessCaller {
  readonly #port: number;
  readonly #random: Random;
  readonly #totals: CallerTotals;
  #socket: Socket | undefined;

  constructor(port: number, random: Random, totals: CallerTotals) {
    this.#port = port;
    this.#random = random;
    this.#totals = totals;
  }

  /** Until `takeNext` says that there is no more. */
  async run(takeNext: () => boolean): Promise<void> {
    while (takeNext()) {
      const socket = this.#socket ?? (await open(this.#port));
      this.#socket = socket;
      if (await perform(socket, nextPlan(this.#random))) {
        this.#totals.completed++;
      } else {
        this.#totals.aborted++;
        this.#socket = undefined;
      }
    }
    this.#socket?.destroy();
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Returns whether the answer came to its end; false when the plan was to leave before. */
function perform(socket: Socket, plan: Plan): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    let body: ChunkedBody | undefined;
    let timer: NodeJS.Timeout | undefined;
    const finish = (isComplete: boolean): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (!isComplete) {
        // Leaving may be answered by a reset of the other side.
        socket.on("error", () => {});
        if (plan.leave?.byReset) socket.resetAndDestroy();
        else socket.destroy();
      }
      resolve(isComplete);
    };
    const leaveFrom = (moment: Leave["from"]): void => {
      if (plan.leave?.from === moment) timer ??= setTimeout(finish, plan.leave.afterMs, false);
    };
    const onBody = (bytes: Buffer, from: number): void => {
      body ??= new ChunkedBody();
      body.feed(bytes, from);
      if (body.done) finish(true);
      else if (body.chunks > 0) leaveFrom("firstPiece");
    };
    socket.on("data", (bytes) => {
      if (body) return onBody(bytes, 0);
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const message = readHead(pending);
      if (!message) return;
      if (message.head.startsWith("HTTP/1.1 200 ")) onBody(pending, message.bodyAt);
      else reject(new UnexpectedAnswerError(`expected 200, got:\n${message.head}`));
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new UnexpectedAnswerError("Envoy closed a connection")));
    socket.write(plan.request);
    leaveFrom("request");
  });
}
