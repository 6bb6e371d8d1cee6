import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether the machine has the command; if not, titles say so. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
export const withOpenssl = (title: string): string => (hasOpenssl ? title : `${title} (skipped: no openssl command)`);

export interface Verdict {
  readonly ok: boolean;
  /** Both streams, as text. */
  readonly output: string;
}

/** Runs `openssl` in a folder of its own that holds `files`; the folder is gone when this returns. */
export function openssl(args: readonly string[], files: Readonly<Record<string, string | Buffer>> = {}): Verdict {
  return inFolder(files, (folder) => {
    const { status, stdout, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    return { ok: status === 0, output: stdout + stderr };
  });
}

/** A self-signed certificate and its key, made by `openssl req -x509` with these arguments (PEM, `cert` and `key`). */
export function selfSignedByOpenssl(...args: readonly string[]): { readonly cert: string; readonly key: string } {
  return inFolder({}, (folder) => {
    const output = ['-keyout', 'key.pem', '-out', 'cert.pem'];
    execFileSync('openssl', ['req', '-x509', '-noenc', '-subj', '/O=Acme/CN=Acme CA', ...args, ...output], {
      cwd: folder,
      stdio: 'pipe',
    });
    const read = (name: string): string => execFileSync('cat', [join(folder, name)], { encoding: 'utf8' });
    return { cert: read('cert.pem'), key: read('key.pem') };
  });
}

function inFolder<T>(files: Readonly<Record<string, string | Buffer>>, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'castellan-pki-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
