import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { StaticFile } from "../control/static-page.js";
import { findRepoRoot } from "../root.js";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The live page's files, as scripts/build-page.mjs made them; none where it did not run. */
export function loadPage(folder = join(findRepoRoot(), "build", "page")): StaticFile[] {
  return namesIn(folder).flatMap((name) => {
    const contentType = CONTENT_TYPES[extname(name)];
    return contentType === undefined ? [] : [load(folder, name, contentType)];
  });
}

function load(folder: string, name: string, contentType: string): StaticFile {
  const body = new Uint8Array(readFileSync(join(folder, name)));
  const isPage = name === "index.html";
  return {
    path: isPage ? "/" : `/${name}`,
    contentType,
    body,
    gzipped: new Uint8Array(gzipSync(body, { level: 9 })),
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    isForever: !isPage,
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
