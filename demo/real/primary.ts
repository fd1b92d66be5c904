import { join } from "node:path";
import type { CountPromptTokens } from "../fleet/settings.js";
import { type Child, startChild, waitUntilReady } from "../story/children.js";
import type { Primary } from "../story/primary.js";
import { startCountingProxy } from "./counting-proxy.js";
import { installRealModel } from "./install.js";

/** SIGKILL ends the server, which is started anew at the fault's end; SIGSTOP freezes it until then. */
export type RealFault = "kill" | "stop";

export interface RealPrimarySettings {
  readonly repoRoot: string;
  readonly logFolder: string;
  readonly port: number;
  readonly serverPort: number;
  readonly fault: RealFault;
  readonly countPromptTokens: CountPromptTokens;
  readonly tell: (text: string) => void;
}

/** A real model (SmolLM2-135M) on a real server (llama.cpp), whose faults are signals to its process. */
export async function startRealPrimary(settings: RealPrimarySettings): Promise<Primary> {
  const { repoRoot, logFolder, port, serverPort, fault, countPromptTokens } = settings;
  const model = await installRealModel(repoRoot, settings.tell);
  const logFile = join(logFolder, "model-server.log");
  const start = async (): Promise<Child> => {
    const child = await startChild({
      name: "the model server",
      command: model.python,
      args: [join(repoRoot, "demo", "real", "server.py"), model.modelFile, String(serverPort)],
      cwd: repoRoot,
      logFile,
    });
    try {
      const healthy = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${serverPort}/health`)).ok;
      await waitUntilReady(child, "The model server", logFile, healthy);
    } catch (error) {
      await child.stop(0);
      throw error;
    }
    return child;
  };
  let server = await start();
  const proxy = await startCountingProxy({ name: "gpu", port, serverPort, countPromptTokens }).catch(
    async (error: unknown) => {
      await server.stop(0);
      throw error;
    },
  );
  return {
    name: "gpu",
    what: "SmolLM2-135M on llama.cpp's server",
    arrivals: proxy.arrivals,
    async beginFault() {
      if (fault === "stop") {
        server.kill("SIGSTOP");
        return `SIGSTOP: process ${server.pid} is frozen, its port still accepts`;
      }
      await proxy.setDown(true);
      server.kill("SIGKILL");
      return `SIGKILL: process ${server.pid} is gone, connections are refused`;
    },
    async endFault() {
      if (fault === "stop") {
        server.kill("SIGCONT");
        return `SIGCONT: process ${server.pid} goes on`;
      }
      await server.ended;
      server = await start();
      await proxy.setDown(false);
      return `process ${server.pid} has loaded the model and listens`;
    },
    async stop() {
      await proxy.stop();
      server.kill("SIGCONT");
      await server.stop(1000);
    },
  };
}
