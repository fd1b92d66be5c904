// A process of its own, for loads that need more open files than one process may have: `node upstream-main.js PORT`.
import { Upstream } from "./upstream.js";

await Upstream.listen(Number(process.argv[2]));
