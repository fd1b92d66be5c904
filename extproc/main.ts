import { ConfigError } from "./config/errors.js";
import { watchFile } from "./config/watch.js";
import { ListenError } from "./listen.js";
import { Reload } from "./reload.js";
import { type Service, startService } from "./server.js";
import { type ConfigFile, configFile, parseConfig } from "./service-config.js";

/** Exit codes: 0 drained, 1 could not start, 2 bad configuration. */
const EXIT_CANNOT_START = 1;
const EXIT_BAD_CONFIG = 2;

async function main(): Promise<void> {
  if (process.argv.length > 2) {
    process.stderr.write(
      "The service takes no words: LLM_BREAKER_CONFIG names its file, and envoy/service.yaml has every setting.\n",
    );
    process.exitCode = EXIT_BAD_CONFIG;
    return;
  }
  let onHangUp = () => {};
  process.on("SIGHUP", () => onHangUp());
  let service: Service;
  let unwatch = () => {};
  try {
    const file = configFile(process.env);
    const text = file?.read() ?? "";
    service = await start(file, text);
    if (file !== undefined) {
      const reload = new Reload(file, text, service);
      onHangUp = () => void reload.check(true);
      unwatch = watchFile(file.path, () => void reload.check());
      // It may have changed while we started.
      void reload.check();
    }
  } catch (cause) {
    if (!(cause instanceof ConfigError || cause instanceof ListenError)) throw cause;
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause instanceof ConfigError ? EXIT_BAD_CONFIG : EXIT_CANNOT_START;
    return;
  }
  const stop = () => {
    unwatch();
    void service.close().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

async function start(file: ConfigFile | undefined, text: string): Promise<Service> {
  try {
    return await startService(file?.parse(text) ?? parseConfig({}));
  } catch (cause) {
    throw cause instanceof ConfigError && file !== undefined ? file.locateIn(cause, text) : cause;
  }
}

await main();
