import { afterEach, describe, expect, it, vi } from 'vitest';
import { Keyring } from '../../src/vault/keyring.ts';
import { startApp, type TestApp } from '../dsl/app.ts';

describe('/health and /ready', () => {
  let app: TestApp;
  afterEach(() => app.close());

  it('name every dependency', async () => {
    app = await startApp();
    // A dependency that answers late degrades for as long as that lasts.
    const { status, body } = await vi.waitFor(async () => {
      const answer = await app.anonymous.get('/health');
      expect(answer.body).toMatchObject({ status: 'healthy' });
      return answer;
    }, 10_000);
    expect(status).toBe(200);
    expect(Object.keys(body.dependencies).toSorted()).toEqual(['audit_seals', 'event_log', 'eventstore', 'master_key', 'objects', 'postgres', 'projections', 'redis']);
    for (const [name, dependency] of Object.entries(body.dependencies)) expect(dependency).toEqual({ name, status: 'healthy', latency_ms: expect.any(Number), last_check: expect.any(String) });
    await app.settled();
    expect(await app.anonymous.get('/ready')).toMatchObject({ status: 200, body: { ready: true } });
  });

  it('a storage for objects that nobody can reach degrades, and keeps nobody away', async () => {
    app = await startApp({ s3: { endpoint: 'http://127.0.0.1:9', region: 'us-east-1', bucket: 'castellan', accessKeyId: 'id', secretAccessKey: 'secret', isTrusted: true } });
    const { status, body } = await app.anonymous.get('/health');
    expect([status, body.status, body.dependencies.objects.status, body.dependencies.objects.message]).toEqual([200, 'degraded', 'degraded', 'the object storage cannot be reached']);
    await app.settled();
    expect(await app.anonymous.get('/ready')).toMatchObject({ status: 200, body: { ready: true } });
  });

  it('a process whose master key was retired wants to be replaced', async () => {
    app = await startApp();
    await app.services.database.owner.query('insert into retired_master_keys (fingerprint) values ($1)', [new Keyring(app.config.masterKey).fingerprint]);
    const { status, body } = await app.anonymous.get('/health');
    expect([status, body.status, body.dependencies.master_key.status]).toEqual([503, 'unhealthy', 'unhealthy']);
    expect(await app.anonymous.get('/ready')).toMatchObject({ status: 503, body: { ready: false } });
  });
});
