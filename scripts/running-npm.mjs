// Node built-ins only.

/**
 * The command of the npm that runs this, if one does: on its PATH an old one, which a package brings along, comes first.
 * @returns {string[]}
 */
export function runningNpm() {
  const running = process.env.npm_execpath ?? "";
  return running.endsWith("npm-cli.js") ? [process.execPath, running] : ["npm"];
}
