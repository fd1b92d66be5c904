import { createControlServer } from "./control/server.js";
import type { ControlSide } from "./control-side.js";
import { listenHttp } from "./listen.js";
import { loadPage } from "./page/load-page.js";
import type { ServiceConfig } from "./service-config.js";

export interface AdminPort {
  /** scheme://host:port as bound; undefined when it is off. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/**
 * Serves the control API and the live page where `listen.admin` says.
 * @throws ConfigError when anybody could use it, or its files are no good; ListenError for a port that can't be had
 */
export async function openAdminPort(
  { listen, control = {} }: ServiceConfig,
  side: ControlSide,
): Promise<AdminPort> {
  const address = listen.admin;
  if (address === "off") return { url: undefined, close: async () => {} };
  const parts = { ...side.controlParts, page: loadPage() };
  const { server, scheme, close } = createControlServer(address, control, parts, side.log);
  const bound = await listenHttp(server, address, "listen.admin").catch((cause: unknown) => {
    close();
    throw cause;
  });
  return {
    url: `${scheme}://${bound}`,
    close: async () => {
      close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
