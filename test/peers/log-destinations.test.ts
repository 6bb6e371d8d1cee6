import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LogDestination } from '../../src/contexts/log-destinations/domain/events.ts';
import type { SyslogProtocol } from '../../src/contexts/log-destinations/domain/vocabulary.ts';
import { syslogFormat } from '../../src/contexts/log-destinations/formats/formats.ts';
import type { LogRecord } from '../../src/contexts/log-destinations/formats/log-record.ts';
import { openSink } from '../../src/contexts/log-destinations/sinks/open-sink.ts';
import type { OutgoingRecord } from '../../src/contexts/log-destinations/sinks/sink.ts';
import { NO_PRIVATE_NETWORKS } from '../../src/platform/outbound/private-networks.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { ownAuthority } from '../dsl/own-authority.ts';
import { hasRsyslog, startRsyslog } from '../dsl/rsyslog.ts';

const BASE = '/api/v1/admin/integrations/log-destinations';
const signal = AbortSignal.timeout(60_000);
const hostile = 'a "quoted" \\ ] value\r\n<13>1 - forged - - - - message\u2028é 𝄞';

const record = (over: Partial<LogRecord> = {}): LogRecord => ({
  timestamp: '2026-11-23T10:11:12.345Z',
  tenantId: '7b7f4c1e-0f5e-4c6e-9c3e-0d5f8a6b1c2d',
  type: 'alert',
  id: randomUUID(),
  severity: 'critical',
  data: { action: 'alert.raised', title: hostile, nested: { count: 3, list: ['x', 'y'] } },
  ...over,
});

const destination = (protocol: SyslogProtocol, port: number, caCertificate: string | null = null): LogDestination => ({
  destinationId: randomUUID(),
  slot: 1,
  name: 'rsyslog',
  format: 'rfc5424',
  isEnabled: true,
  eventTypes: ['audit'],
  config: { type: 'syslog', host: '127.0.0.1', port, protocol, facility: 'local3' },
  secretRef: null,
  addressRef: null,
  allowPrivateNetwork: false,
  caCertificate,
});

const settings = { devMode: true, outboundNetworks: NO_PRIVATE_NETWORKS };
const outgoing = (one: LogRecord, position: number): OutgoingRecord => ({
  record: one,
  line: syslogFormat('rfc5424', 'local3')(one),
  position: BigInt(position),
  recordedAt: 0,
});

describe.skipIf(!hasRsyslog())('rsyslog from Debian (skipped without rsyslog and rsyslog-gnutls)', () => {
  let server: Awaited<ReturnType<typeof startRsyslog>>;
  beforeAll(async () => {
    server = await startRsyslog();
  });
  afterAll(() => server.close());

  it.each(['udp', 'tcp', 'tls'] as const)('takes records over %s, and parses them as they were', async (protocol) => {
    const sink = openSink(destination(protocol, server.ports[protocol], server.certificate), null, { settings });
    const sent = [record(), record({ type: 'audit', severity: 'info', data: { action: `over.${protocol}` } })];
    expect(await sink.send(sent.map(outgoing), signal)).toEqual([]);
    await sink.confirm(signal);
    sink.close();
    const mine = () => server.messages().filter(({ structured }) => sent.some(({ id }) => structured.includes(id)));
    await vi.waitFor(() => expect(mine()).toHaveLength(2), { timeout: 10_000 });
    expect(mine()[0]).toMatchObject({
      facility: 'local3',
      severity: 'crit',
      time: '2026-11-23T10:11:12.345Z',
      host: 'castellan',
      app: 'castellan',
      kind: 'alert',
    });
    expect(mine()[0]!.text.trim()).toBe('alert.raised');
    expect(mine()[0]!.structured).toContain('[castellan@32473 tenantId="7b7f4c1e-0f5e-4c6e-9c3e-0d5f8a6b1c2d"');
    expect(mine()[0]!.structured).toContain(
      String.raw`title="a \"quoted\" \\ \] value <13>1 - forged - - - - message é 𝄞" nestedCount="3" nestedList="x,y"`,
    );
    expect(mine()[1]!.text.trim()).toBe(`over.${protocol}`);
  });

  it('takes ten thousand records of a backlog in order', async () => {
    const sink = openSink(destination('tcp', server.ports.tcp), null, { settings });
    const before = server.messages().length;
    for (let batch = 0; batch < 20; batch += 1) {
      const records = Array.from({ length: 500 }, (_, index) =>
        outgoing(record({ data: { action: `n.${batch * 500 + index}` } }), index),
      );
      await sink.send(records, signal);
      if (batch % 5 === 4) await sink.confirm(signal);
    }
    sink.close();
    await vi.waitFor(() => expect(server.messages().length).toBe(before + 10_000), { timeout: 20_000 });
    const order = server
      .messages()
      .slice(before)
      .map(({ text }) => text.trim());
    expect(order).toEqual(Array.from({ length: 10_000 }, (_, index) => `n.${index}`));
  });

  it('is refused with a certificate that nobody vouches for, or of another authority', async () => {
    for (const [trusted, reason] of [
      [null, 'its certificate is not trusted: set caCertificate to the authority that issued it'],
      [ownAuthority().cert, 'its certificate is not trusted: caCertificate is another authority'],
    ] as const) {
      const sink = openSink(destination('tls', server.ports.tls, trusted), null, { settings });
      await expect(sink.send([outgoing(record(), 1)], signal)).rejects.toThrow(reason);
      sink.close();
    }
  });

  describe('behind the whole service', () => {
    let app: TestApp;
    let tenant: TestTenant;
    beforeAll(async () => {
      app = await startApp({ devMode: true });
      tenant = await app.newTenant();
    });
    afterAll(() => app.close());

    it('gets everything that happened while it was away, in order', async () => {
      const rename = (name: string) => tenant.admin.put('/api/v1/admin/me', { displayName: name });
      const { body } = await tenant.admin.post(BASE, {
        name: 'rsyslog',
        type: 'syslog',
        eventTypes: ['audit'],
        config: { host: '127.0.0.1', port: server.ports.tls, protocol: 'tls', facility: 'audit' },
        caCertificate: server.certificate,
      });
      await rename('Before');
      const names = () =>
        server
          .messages()
          .filter(({ structured }) => structured.includes(tenant.tenantId))
          .map(({ structured }) => /detailsDisplayName="([^"]*)"/.exec(structured)?.[1])
          .filter((name) => name !== undefined);
      await vi.waitFor(() => expect(names()).toContain('Before'), { timeout: 20_000 });
      await server.stop();
      for (let index = 0; index < 5; index += 1) await rename(`Away ${index}`);
      const shown = async () => (await tenant.admin.get(`${BASE}/${body.id}`)).body;
      await vi.waitFor(async () => expect((await shown()).status).toBe('failing'), { timeout: 20_000 });
      await server.start();
      await vi.waitFor(async () => expect(await shown()).toMatchObject({ status: 'healthy', lagEvents: 0 }), {
        timeout: 30_000,
      });
      const firsts = [...new Set(names())];
      expect(firsts).toEqual(['Before', 'Away 0', 'Away 1', 'Away 2', 'Away 3', 'Away 4']);
    }, 90_000);
  });
});
