import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { GroupKey } from "./keys.js";

const CIPHER = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** What a sealed message is longer than what is in it. Bytes. */
export const SEAL_BYTES = HEAD_BYTES + TAG_BYTES;

/**
 * Makes messages that only holders of the group's key can write or read: version, nonce, encrypted bytes, tag. That a
 * message is new is not seen here: see `freshness.ts`.
 */
export class Seal {
  private readonly own: GroupKey;

  constructor(private readonly keys: readonly GroupKey[]) {
    const [own] = keys;
    if (own === undefined) throw new RangeError("no key");
    this.own = own;
  }

  close(bytes: Uint8Array): Buffer {
    const head = Buffer.concat([Buffer.of(VERSION), randomBytes(NONCE_BYTES)]);
    const cipher = createCipheriv(CIPHER, this.own.seal, head.subarray(1), { authTagLength: TAG_BYTES });
    cipher.setAAD(head.subarray(0, 1));
    return Buffer.concat([head, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** What was sealed by one of the keys; undefined for anything else. */
  open(sealed: Uint8Array): Buffer | undefined {
    if (sealed.length < SEAL_BYTES || sealed[0] !== VERSION) return undefined;
    for (const key of this.keys) {
      const opened = openWith(key, sealed);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }
}

function openWith(key: GroupKey, sealed: Uint8Array): Buffer | undefined {
  const tagAt = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(1, HEAD_BYTES);
  const decipher = createDecipheriv(CIPHER, key.seal, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(sealed.subarray(0, 1));
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, tagAt)), decipher.final()]);
  } catch {
    // Another key's, or changed on its way.
    return undefined;
  }
}
