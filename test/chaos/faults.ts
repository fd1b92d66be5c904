import { brokenAnswers } from "./broken-answers.js";
import type { Fault } from "./fault.js";
import { oddAnswers } from "./odd-answers.js";
import { toldFaults } from "./told-faults.js";

export const faults: readonly Fault[] = [...brokenAnswers, ...toldFaults, ...oddAnswers];
