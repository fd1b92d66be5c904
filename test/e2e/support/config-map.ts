import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder with one file, as Kubernetes mounts a ConfigMap: the file is a link into `..data`, which is a link that changes. */
export class ConfigMap {
  readonly folder = mkdtempSync(join(tmpdir(), "llm-breaker-config-map-"));
  readonly file: string;
  #version = 0;

  constructor(
    private readonly name: string,
    text: string,
  ) {
    this.file = join(this.folder, name);
    this.write(text);
    symlinkSync(join("..data", name), this.file);
  }

  /** The kubelet's steps: a folder with what is new, a link to it, which takes the place of `..data` at once. */
  write(text: string): void {
    const before = `..version-${this.#version}`;
    const next = `..version-${++this.#version}`;
    mkdirSync(join(this.folder, next));
    writeFileSync(join(this.folder, next, this.name), text);
    symlinkSync(next, join(this.folder, "..data_tmp"));
    renameSync(join(this.folder, "..data_tmp"), join(this.folder, "..data"));
    rmSync(join(this.folder, before), { recursive: true, force: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
