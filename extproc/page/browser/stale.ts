import { createContext } from "preact";

/** True while the service does not answer: what is shown was so, and may not be any more. */
export const Stale = createContext(false);
