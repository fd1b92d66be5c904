import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { whenProductPortsAreFree } from "../support/product-ports.js";
import { commandsIn, withoutRemark } from "./support/commands.js";
import { ENDLESS, EXCEPTIONS } from "./support/exceptions.js";
import { documents } from "./support/markdown.js";
import { type Place, preparePlace, whenStarted } from "./support/place.js";
import { SESSIONS, type Session } from "./support/sessions.js";
import { type Ran, ShellSession } from "./support/shell-session.js";

const exceptionOf = (command: string) => EXCEPTIONS.find((each) => each.command === withoutRemark(command));
const endlessOf = (command: string) => ENDLESS.find((each) => each.command === withoutRemark(command));

async function runAsReader(shell: ShellSession, command: string): Promise<Ran | undefined> {
  const exception = exceptionOf(command);
  if (exception) {
    exception.check();
    return undefined;
  }
  const endless = endlessOf(command);
  if (endless) {
    await shell.watch(endless.command, endless.writes);
    return undefined;
  }
  const ran = await shell.run(command);
  assert.equal(ran.exitCode, 0, `${command}\n${ran.output}`);
  if (withoutRemark(command).endsWith("&")) await whenStarted(command);
  return ran;
}

for (const session of SESSIONS) describe(session.documents.join(", "), () => runSession(session));

function runSession({ documents: read, files, prepare, writes = [] }: Session): void {
  let place: Place | undefined;
  let shell: ShellSession | undefined;
  before(async () => {
    await whenProductPortsAreFree();
    place = await preparePlace();
    for (const [name, text] of Object.entries(files?.() ?? {})) writeFileSync(join(place.folder, name), text);
    shell = new ShellSession(place.folder, place.environment);
    for (const command of prepare ?? []) await runAsReader(shell, command);
  });
  after(async () => {
    // Neither is there when the ports were not free.
    await shell?.end();
    place?.remove();
  });
  const left = [...writes];
  for (const command of read.flatMap(commandsIn)) {
    test(command, async () => {
      assert.ok(shell);
      const ran = await runAsReader(shell, command);
      const expected = left[0]?.[0] === withoutRemark(command) ? left.shift()?.[1] : undefined;
      if (expected) assert.match(ran?.output ?? "", expected);
    });
  }
  test("each command that is to write something has been there", () => assert.deepEqual(left, []));
}

test("every document with commands is read by one of the sessions", () => {
  const read = SESSIONS.flatMap((session) => session.documents);
  const forgotten = documents().filter((each) => commandsIn(each).length > 0 && !read.includes(each));
  assert.deepEqual(forgotten, []);
});

test("no exception is left over", () => {
  const all = documents().flatMap(commandsIn).map(withoutRemark);
  const idle = [...EXCEPTIONS, ...ENDLESS]
    .map(({ command }) => command)
    .filter((each) => !all.includes(each));
  assert.deepEqual(idle, []);
});
