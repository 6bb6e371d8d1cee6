import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { raiseAlert } from '../../commands/alerts/raise-alert.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { BenchApp } from '../app.ts';

const SETTINGS = '/api/v1/admin/alert-notifications';

/** A receiver that says when a body with this text has arrived. */
export async function startReceiver() {
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = /"id":"([^"]+)"/.exec(body)?.[1] ?? '';
      waiting.get(id)?.();
      waiting.delete(id);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrival = (id: string) => new Promise<void>((resolve) => waiting.set(id, resolve));
  return { server, arrival, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** The proof of a password that the settings want for an address, without hashing. */
async function proofOf({ services, headers }: BenchApp): Promise<Record<string, string>> {
  const { accessTokens, oneTimeTokens } = services;
  const { tenantId, subjectId, sessionId } = (await accessTokens.verify(
    headers.authorization!.slice('Bearer '.length),
  ))!;
  const about = { tenantId, subjectId, payload: { sessionId } };
  return { 'x-reauth-token': await oneTimeTokens.issue('reauth', about, 300) };
}

/** Sends the tenant's alerts of the type that `raiseOne` raises to this address. */
export async function notifyByWebhook(app: BenchApp, webhookUrl: string): Promise<void> {
  const proof = await proofOf(app);
  const put = async (path: string, body: object) => {
    const headers = { ...app.headers, ...proof, 'content-type': 'application/json' };
    const { ok, status } = await fetch(`${app.url}${SETTINGS}/${path}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    });
    if (!ok) throw new Error(`${path}: ${status}`);
  };
  await put('webhook-secret', { secret: `whsec_${randomBytes(32).toString('base64')}` });
  await put('settings', { webhookEnabled: true, webhookUrl, alertTypes: ['weak_password'] });
}

/** Resolves when the command has responded. */
export async function raiseOne({ services, tenantId }: BenchApp, alertId = randomUUID()): Promise<void> {
  const about = { userId: null, deviceId: null, domain: null, url: null, cause: alertId, metadata: {} };
  const alert = { alertId, alertType: 'weak_password' as const, title: 'A', description: 'B', fingerprint: alertId };
  const execution = { tenantId, actor: system('bench') };
  orThrow(await services.executor.execute(raiseAlert, { ...alert, ...about }, execution));
}
