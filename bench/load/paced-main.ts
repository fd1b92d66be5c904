// A process of its own, so that the upstream's work does not delay what the bench reads: `node paced-main.js PORT`.
import { PacedUpstream } from "./paced-upstream.js";

await PacedUpstream.listen(Number(process.argv[2]));
