// A member in a process of its own, which can be killed: `node peer-process.js <name> <listen> <member>…`. It closes
// what it has opened when its standard input ends, and exits only if nothing else keeps it.
import { openMember } from "./peers.js";

const [name = "", listen = "", ...members] = process.argv.slice(2);
const member = await openMember(name, { gossip: { listen, members } });
process.stdout.write("open\n");
process.on("SIGTERM", () => void member.close());
