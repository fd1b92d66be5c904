import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

export interface Signed {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A throw-away certificate authority, made by openssl. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), "llm-breaker-ca-"));
  readonly file = join(this.folder, "ca.crt");

  constructor() {
    after(() => rmSync(this.folder, { recursive: true }));
    this.openssl(
      "req",
      "-x509",
      "-subj",
      "/CN=test authority",
      "-days",
      "1",
      ...this.newKey("ca"),
      "-out",
      this.file,
    );
  }

  get certificate(): Buffer {
    return readFileSync(this.file);
  }

  sign(name: string): Signed {
    const extensions = join(this.folder, `${name}.ext`);
    writeFileSync(extensions, "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    const request = join(this.folder, `${name}.csr`);
    const certFile = join(this.folder, `${name}.crt`);
    this.openssl("req", "-subj", `/CN=${name}`, ...this.newKey(name), "-out", request);
    const by = ["-CA", this.file, "-CAkey", join(this.folder, "ca.key"), "-CAcreateserial"];
    this.openssl(
      "x509",
      "-req",
      "-in",
      request,
      ...by,
      "-days",
      "1",
      "-extfile",
      extensions,
      "-out",
      certFile,
    );
    const keyFile = join(this.folder, `${name}.key`);
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }

  private newKey(name: string): string[] {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    return [...curve, "-keyout", join(this.folder, `${name}.key`)];
  }

  private openssl(...words: string[]): void {
    execFileSync("openssl", words, { stdio: "pipe" });
  }
}
