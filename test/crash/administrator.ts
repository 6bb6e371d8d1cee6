import { join } from 'node:path';
import pg from 'pg';
import { findEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { PASSWORD } from '../dsl/app.ts';
import { licenseKey, licensePublicKeyPem } from '../dsl/licenses.ts';
import type { ServiceProcess } from './service-process.ts';

export const LICENSED = { LICENSE_PUBLIC_KEY: licensePublicKeyPem };
const EMAIL = 'first@acme.example';

type Body = Record<string, unknown>;

/** Sets up the installation with its first administrator. Returns the tenant. */
export async function setUpInstallation({ url }: ServiceProcess): Promise<string> {
  const owner = {
    email: EMAIL,
    password: PASSWORD,
    displayName: 'First',
    licenseKey: licenseKey({ maxUsers: 100 }),
    externalBaseUrl: 'https://acme.example',
  };
  const setUp = await fetch(`${url}/api/v1/setup/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  return ((await setUp.json()) as { tenantId: string }).tenantId;
}

export type Administrator = Awaited<ReturnType<typeof administrator>>;

/** Requests to the running process as its first administrator. */
export async function administrator({ url }: ServiceProcess, tenantId: string) {
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Body };
  };
  const { body } = await send('POST', '/api/v1/auth/login', { email: EMAIL, password: PASSWORD, tenantId });
  const bearer = { authorization: `Bearer ${body['accessToken'] as string}` };
  const ask = (method: string, path: string, content?: object, headers: Record<string, string> = {}) =>
    send(method, path, content, { ...bearer, ...headers });
  return {
    anonymously: send,
    ask,
    /** With a new re-authentication token. */
    askWithProof: async (method: string, path: string, content?: object) => {
      const proof = (await ask('POST', '/api/v1/admin/verify-password', { password: PASSWORD })).body;
      return ask(method, path, content, { 'x-reauth-token': proof['reAuthToken'] as string });
    },
  };
}

/** A connection past the service, to make it stand still at a step. */
export const databaseOf =
  (dataDir: string) =>
  async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ ...findEmbeddedPostgres(join(dataDir, 'postgres'))! });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };

/** A trigger made a statement sleep. */
export const standsStill = (inDatabase: ReturnType<typeof databaseOf>) => (): Promise<boolean> =>
  inDatabase(async (client) => {
    const { rowCount } = await client.query("select from pg_stat_activity where wait_event = 'PgSleep'");
    return rowCount !== 0;
  });
