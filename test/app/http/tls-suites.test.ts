import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp } from '../../dsl/app.ts';

describe('the TLS listener', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  /** The output of OpenSSL for a handshake, and for the input typed after it. */
  async function handshake(args: readonly string[], typed = ''): Promise<string> {
    const child = spawn('openssl', ['s_client', '-connect', new URL(app.tlsUrl).host, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    let asked = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (asked || !output.includes('Verify return code')) return;
        asked = true;
        child.stdin.end(typed);
      });
    }
    child.stdin.on('error', () => undefined);
    await once(child, 'close');
    return output;
  }
  const suiteOf = (output: string) => /Cipher is (\S+)/.exec(output)?.[1];

  it.each([
    'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
  ])('accepts %s of TLS 1.2', async (suites) => {
    expect(suites.split(':')).toContain(suiteOf(await handshake(['-tls1_2', '-cipher', suites])));
  });

  it.each([
    ['block ciphers', 'ECDHE+AES:!AESGCM:!AESCCM'],
    ['SHA-1', 'ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:AES128-SHA'],
    ['keys without forward secrecy', 'kRSA+AESGCM:kRSA'],
    ['short tags', 'ECDHE+AESCCM8:AESCCM8'],
  ])('rejects %s', async (_what, suites) => {
    expect(suiteOf(await handshake(['-tls1_2', '-cipher', `${suites}:@SECLEVEL=0`]))).toBe('(NONE)');
  });

  it('rejects versions before TLS 1.2', async () => {
    for (const version of ['-tls1_1', '-tls1'])
      expect(suiteOf(await handshake([version, '-cipher', 'ALL:@SECLEVEL=0']))).not.toMatch(/^(ECDHE|AES|TLS)/);
  });

  it('does not renegotiate on a connection', async () => {
    const output = await handshake(['-tls1_2'], 'R\n');
    expect(output).toMatch(/no renegotiation/i);
  });
});
