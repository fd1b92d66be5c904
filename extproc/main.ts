import { ConfigError } from "./config/errors.js";
import { ListenError } from "./listen.js";
import { type Service, startService } from "./server.js";
import { loadConfig } from "./service-config.js";

/** Exit codes: 0 drained, 1 could not start, 2 bad configuration. */
const EXIT_CANNOT_START = 1;
const EXIT_BAD_CONFIG = 2;

async function main(): Promise<void> {
  let service: Service;
  try {
    service = await startService(loadConfig(process.env));
  } catch (cause) {
    if (!(cause instanceof ConfigError || cause instanceof ListenError)) throw cause;
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause instanceof ConfigError ? EXIT_BAD_CONFIG : EXIT_CANNOT_START;
    return;
  }
  const stop = () => {
    void service.close().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

await main();
