import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestApp, TestResponse } from './app.ts';
import { scratchFolder } from './scratch.ts';

/** Makes keys and signatures as the guide tells a publisher to: with `openssl`, not with our code. */
export function updatePublisher() {
  const folder = scratchFolder('publisher');
  const file = (name: string) => join(folder, name);
  const openssl = (...given: string[]) => execFileSync('openssl', given, { stdio: ['ignore', 'pipe', 'pipe'] });
  openssl('genpkey', '-algorithm', 'ed25519', '-out', file('key.pem'));
  openssl('pkey', '-in', file('key.pem'), '-pubout', '-out', file('public.pem'));
  const signed = (text: string): string => {
    writeFileSync(file('statement'), text);
    openssl(
      'pkeyutl',
      '-sign',
      '-rawin',
      '-inkey',
      file('key.pem'),
      '-in',
      file('statement'),
      '-out',
      file('signature'),
    );
    return readFileSync(file('signature')).toString('base64');
  };
  return {
    publicKey: readFileSync(file('public.pem'), 'utf8'),
    signed,
    signature: (version: string, content: Buffer): string =>
      signed(`castellan-update-bundle\n${version}\n${createHash('sha256').update(content).digest('hex')}\n`),
  };
}
export type UpdatePublisher = ReturnType<typeof updatePublisher>;

interface Upload {
  readonly version?: string;
  readonly signature?: string;
  readonly fileName?: string;
  /** Fields after the file. */
  readonly late?: boolean;
  readonly headers?: Record<string, string>;
}

export async function uploadBundle(
  { url }: Pick<TestApp, 'url'>,
  token: string,
  content: Buffer,
  { version, signature, fileName = 'castellan.bundle', late = false, headers = {} }: Upload,
): Promise<Pick<TestResponse, 'status' | 'body'>> {
  const form = new FormData();
  const fields = () => {
    if (version !== undefined) form.set('version', version);
    if (signature !== undefined) form.set('signature', signature);
  };
  if (!late) fields();
  form.set('file', new Blob([new Uint8Array(content)]), fileName);
  if (late) fields();
  const response = await fetch(`${url}/api/v1/admin/updates/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}
