/** The largest message that is sent or taken in, as it goes over the wire. Bytes. */
export const MAX_MESSAGE_BYTES = 262_144;

/**
 * Is given each message of the others. False: it is none of the group's, and an exchange that passes messages on lets
 * this one end here.
 */
export type Receive = (bytes: Uint8Array) => boolean;

/** Carries messages between the services of a group, to each of them or to nobody; none is asked for again. */
export interface Exchange {
  readonly name: "gossip" | "redis";
  /** Others that a message reaches directly; undefined while nobody can know. */
  readonly reachable: number | undefined;
  /** Given once, before the first message; what comes earlier is lost. */
  listen(receive: Receive): void;
  /** To all others. Never fails and never waits: what can't be sent now is lost. */
  publish(bytes: Uint8Array): void;
  /** Lets go of its port and its connections. */
  close(): Promise<void>;
}
