import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { PASSWORD } from '../../dsl/app.ts';
import { licenseKey, licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { ask } from './ask.ts';
import { Browser, enroll, type Enrolled } from './browser.ts';
import { Journal } from './journal.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { Proxy } from './proxy.ts';
import type { RedisServer } from './redis.ts';
import { ServiceNode, type Role } from './service-node.ts';
import type { Written } from './writers.ts';

const EMAIL = 'first@acme.example';
const BROWSERS = 3;
/** Sign-ins are limited by address: each uses another one. */
const ADDRESSES_MOST = 250;

export interface InstallationOptions {
  readonly cluster: PostgresCluster;
  readonly redis?: RedisServer;
  readonly nodes?: readonly { readonly name: string; readonly role: Role }[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An API node, two projectors of which one leads, and a worker. */
const USUAL_NODES = [
  { name: 'api', role: 'api' },
  { name: 'projector', role: 'projector' },
  { name: 'second projector', role: 'projector' },
  { name: 'worker', role: 'worker' },
] as const;

/** Whichever of them is killed, nobody does its work meanwhile. */
export const ONE_OF_EACH = [
  { name: 'api', role: 'api' },
  { name: 'projector', role: 'projector' },
  { name: 'worker', role: 'worker' },
] as const;

// The passwords of the service's own roles may be derived from these, and roles belong to a whole cluster.
const keys = { MASTER_KEY: randomBytes(32).toString('hex'), AUDIT_HMAC_KEY: randomBytes(32).toString('hex') };

let databases = 0;

/** The service in several processes: PostgreSQL behind a proxy, Redis, one tenant, and browsers that report. */
export class Installation {
  /** The primary: another one after a failover. */
  cluster: PostgresCluster;
  readonly redis: RedisServer | undefined;
  readonly proxy: Proxy;
  readonly database: string;
  readonly nodes: readonly ServiceNode[];
  readonly env: Readonly<Record<string, string>>;
  readonly journal = new Journal();
  /** Nodes that a test has stopped or frozen on purpose. */
  readonly away = new Set<ServiceNode>();
  readonly dataDir: string;
  tenantId = '';
  browsers: Browser[] = [];
  #headers: Record<string, string> = {};
  #sources = 0;

  private constructor(
    options: InstallationOptions,
    proxy: Proxy,
    database: string,
    dataDir: string,
    env: Record<string, string>,
    nodes: readonly ServiceNode[],
  ) {
    this.cluster = options.cluster;
    this.redis = options.redis;
    this.proxy = proxy;
    this.database = database;
    this.env = env;
    this.nodes = nodes;
    this.dataDir = dataDir;
  }

  /** On an empty database of the cluster; all nodes run and are ready. */
  static async start(options: InstallationOptions): Promise<Installation> {
    const { cluster, redis, nodes: wanted = USUAL_NODES } = options;
    const database = `castellan_${process.pid}_${(databases += 1)}`;
    await cluster.createDatabase(database);
    const proxy = await Proxy.to(cluster.port);
    const dataDir = scratchFolder('installation');
    const env = {
      ...keys,
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      DATABASE_URL: cluster.url(database, proxy.port),
      ...(redis ? { REDIS_URL: redis.url } : {}),
      ...options.env,
    };
    const nodes = await Promise.all(wanted.map(({ name, role }) => ServiceNode.reserve(name, { role, env, dataDir })));
    const installation = new Installation(options, proxy, database, dataDir, env, nodes);
    try {
      // One migrates; the others start after it.
      nodes[0]!.start();
      await nodes[0]!.answers();
      for (const node of nodes.slice(1)) node.start();
      await Promise.all(nodes.map((node) => node.ready()));
      await installation.#setUp();
    } catch (error) {
      // One waits for another: the reason may be in what that one said.
      const said = nodes.map((node) => `${node.name} (${node.exit ?? 'running'}): ${node.output()}`).join('\n');
      await installation.stop();
      throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
    }
    return installation;
  }

  get api(): ServiceNode {
    return this.nodes[0]!;
  }

  /** Nodes that should work and are running. An ended one is a separate finding, and does not respond to probes. */
  get running(): readonly ServiceNode[] {
    return this.present.filter(({ exit }) => exit === undefined);
  }

  /** Nodes that should work. */
  get present(): readonly ServiceNode[] {
    return this.nodes.filter((node) => !this.away.has(node));
  }

  /** Nodes that ended although no test stopped them. */
  get exits(): string[] {
    return this.present.filter(({ exit }) => exit !== undefined).map(({ name, exit }) => `${name} ended (${exit})`);
  }

  /** Signs in again: access tokens are valid for a quarter of an hour. */
  async signIn(): Promise<void> {
    const from = `127.1.0.${1 + (this.#sources++ % ADDRESSES_MOST)}`;
    const answer = await ask(`${this.api.url}/api/v1/auth/login`, {
      method: 'POST',
      from,
      body: { email: EMAIL, password: PASSWORD, tenantId: this.tenantId },
    });
    if (answer.status !== 200) throw new Error(`no sign-in: ${answer.status} ${answer.text}`);
    this.#headers = { authorization: `Bearer ${answer.body.accessToken as string}` };
  }

  /** Where writers write. */
  get written(): Written {
    return { url: this.api.url, headers: this.#headers, browsers: this.browsers };
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** With a fresh proof of the password, as the routes want it that decide where data is sent. */
  async provenHeaders(): Promise<Readonly<Record<string, string>>> {
    const { status, text, body } = await ask(`${this.api.url}/api/v1/admin/verify-password`, {
      method: 'POST',
      headers: this.#headers,
      body: { password: PASSWORD },
    });
    if (status !== 200) throw new Error(`no proof: ${status} ${text}`);
    return { ...this.#headers, 'x-reauth-token': body.reAuthToken as string };
  }

  async #setUp(): Promise<void> {
    const { url, tlsUrl } = this.api;
    const setup = await ask(`${url}/api/v1/setup/complete`, {
      method: 'POST',
      body: {
        email: EMAIL,
        password: PASSWORD,
        displayName: 'First',
        licenseKey: licenseKey({ maxUsers: 10_000_000 }),
        externalBaseUrl: 'https://acme.example',
      },
    });
    if (setup.status !== 201) throw new Error(`no set-up: ${setup.status} ${setup.text}`);
    this.tenantId = setup.body.tenantId as string;
    this.#headers = { authorization: `Bearer ${setup.body.accessToken as string}` };
    const enrolled: Enrolled[] = [];
    while (enrolled.length < BROWSERS)
      enrolled.push(await enroll({ url, tlsUrl, tenantId: this.tenantId, headers: this.#headers }));
    this.browsers = enrolled.map((one) => new Browser(tlsUrl, one));
  }

  async stop(): Promise<void> {
    for (const browser of this.browsers) browser.close();
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.proxy.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
