import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { PageError } from "./page-reader.js";

const MAX_TOKEN_BYTES = 16_384;
/** Tokens in files are replaced long before they run out. */
const READ_AGAIN_AFTER_MS = 5_000;

/** A pipe that nobody writes to would keep one of the four threads that read files, for good. */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

/** What may stand in a header, without blanks. */
const TOKEN = /^[\x21-\x7e]+$/;

/** A bearer token in a file that others replace. The token is in no message. */
export class TokenFile {
  private token: Promise<string> | undefined;
  private readAtMs = 0;

  constructor(
    private readonly path: string,
    private readonly now: () => number,
  ) {}

  /** @throws PageError when there is none */
  read(): Promise<string> {
    if (this.token === undefined || this.now() - this.readAtMs >= READ_AGAIN_AFTER_MS) {
      this.readAtMs = this.now();
      this.token = readToken(this.path);
    }
    return this.token;
  }
}

async function readToken(path: string): Promise<string> {
  const file = await open(path, WITHOUT_WAITING).catch((cause: NodeJS.ErrnoException) => {
    throw new PageError(`bearerTokenFile ${path} can't be read (${cause.code}); mount it or mend its rights`);
  });
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_TOKEN_BYTES + 1));
    const token = buffer.toString("latin1", 0, bytesRead).trim();
    if (bytesRead > MAX_TOKEN_BYTES || !TOKEN.test(token)) {
      throw new PageError(
        `bearerTokenFile ${path} must hold one token of at most ${MAX_TOKEN_BYTES} characters and no blanks`,
      );
    }
    return token;
  } finally {
    await file.close();
  }
}
