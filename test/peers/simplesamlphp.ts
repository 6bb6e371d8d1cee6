import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../dsl/free-port.ts';
import { newSigningPair } from '../dsl/saml-identity-provider.ts';

/** Where Debian's package `simplesamlphp` puts its pages. */
const PAGES = '/usr/share/simplesamlphp/www';
const PHP = '/usr/bin/php';

export const hasSimpleSamlPhp = existsSync(PAGES) && existsSync(PHP);

export interface SimpleSamlPhp {
  readonly url: string;
  readonly metadataUrl: string;
  /** Makes a service provider known, by its addresses. */
  trusts(provider: { entityId: string; acsUrl: string; sloUrl: string }, settings?: PhpSettings): void;
  /** Settings of its own, beyond the defaults. */
  hosts(settings: PhpSettings): void;
  close(): Promise<void>;
}

export type PhpSettings = Readonly<Record<string, true | string>>;

const text = (value: string): string => `'${value.replaceAll(/['\\]/g, '\\$&')}'`;
const php = (settings: PhpSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `, ${text(name)} => ${value === true ? 'true' : text(value)}`)
    .join('');

/**
 * SimpleSAMLphp as an identity provider with its defaults, in PHP's own server. Everybody who comes is the one person
 * of its static source. Only logout messages are signed beyond the defaults (`sign.logout`).
 */
export async function startSimpleSamlPhp(email: string): Promise<SimpleSamlPhp> {
  const folder = mkdtempSync(join(tmpdir(), 'castellan-ssp-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { certificatePem, privateKeyPem } = newSigningPair('simplesamlphp');
  for (const name of ['cert', 'metadata', 'log', 'data', 'tmp', 'sessions']) mkdirSync(join(folder, name));
  const write = (name: string, php: string) => writeFileSync(join(folder, name), `<?php\n${php}\n`);
  writeFileSync(join(folder, 'cert/server.pem'), privateKeyPem);
  writeFileSync(join(folder, 'cert/server.crt'), certificatePem);
  write(
    'config.php',
    `$config = ['baseurlpath' => ${text(`${url}/`)}, 'certdir' => ${text(`${folder}/cert/`)}, 'loggingdir' => ${text(`${folder}/log/`)},
      'datadir' => ${text(`${folder}/data/`)}, 'tempdir' => ${text(`${folder}/tmp`)}, 'secretsalt' => 'of a test only', 'timezone' => 'UTC',
      'auth.adminpassword' => 'of a test only', 'logging.handler' => 'file', 'enable.saml20-idp' => true, 'store.type' => 'phpsession',
      'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true], 'session.cookie.secure' => false,
      'metadata.sources' => [['type' => 'flatfile', 'directory' => ${text(`${folder}/metadata`)}]]];`,
  );
  write(
    'authsources.php',
    `$config = ['static' => ['exampleauth:StaticSource', 'uid' => ['ann'], 'mail' => [${text(email)}]]];`,
  );
  const hosts = (settings: PhpSettings) =>
    write(
      'metadata/saml20-idp-hosted.php',
      `$metadata['__DYNAMIC:1__'] = ['host' => '__DEFAULT__', 'privatekey' => 'server.pem', 'certificate' => 'server.crt', 'auth' => 'static'${php(settings)}];`,
    );
  hosts({ 'sign.logout': true });
  write('metadata/saml20-sp-remote.php', '$metadata = [];');
  const server = spawn(
    PHP,
    ['-d', `session.save_path=${folder}/sessions`, '-d', 'opcache.enable=0', '-S', `127.0.0.1:${port}`, '-t', PAGES],
    { env: { ...process.env, SIMPLESAMLPHP_CONFIG_DIR: folder }, stdio: 'ignore' },
  );
  const metadataUrl = `${url}/saml2/idp/metadata.php`;
  const isUp = () =>
    fetch(metadataUrl).then(
      ({ status }) => status === 200,
      () => false,
    );
  for (const ends = Date.now() + 60_000; !(await isUp()); await new Promise((resolve) => setTimeout(resolve, 100)))
    if (Date.now() > ends) throw new Error('SimpleSAMLphp does not respond');
  return {
    url,
    metadataUrl,
    hosts,
    trusts: ({ entityId, acsUrl, sloUrl }, settings = {}) =>
      write(
        'metadata/saml20-sp-remote.php',
        `$metadata[${text(entityId)}] = ['AssertionConsumerService' => ${text(acsUrl)}, 'SingleLogoutService' => ${text(sloUrl)}${php(settings)}];`,
      ),
    close: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A browser with cookies that follows redirects as long as they stay at one origin. */
export class PeerBrowser {
  readonly #cookies = new Map<string, string>();

  /** The page at the end, or the first address elsewhere. */
  async visit(address: string): Promise<{ readonly left: string | undefined; readonly html: string }> {
    const { origin } = new URL(address);
    for (let hops = 0, next = address; hops < 20; hops += 1) {
      if (new URL(next).origin !== origin) return { left: next, html: '' };
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(next, { redirect: 'manual', headers: { cookie, accept: 'text/html' } });
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
        this.#cookies.set(name!, value!);
      }
      const location = response.headers.get('location');
      if (location === null) return { left: undefined, html: await response.text() };
      next = new URL(location, next).href;
    }
    throw new Error('too many redirects');
  }
}
