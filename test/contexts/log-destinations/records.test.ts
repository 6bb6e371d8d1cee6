import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordTypes, type RecordType } from '../../../src/contexts/log-destinations/domain/vocabulary.ts';
import { eventSources, wantedEvents } from '../../../src/contexts/log-destinations/record-table.ts';
import { recordsOf } from '../../../src/contexts/log-destinations/records-of.ts';
import { families } from '../../../src/contexts/families.ts';
import { ERASED, type EventDefinition, type RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';

const TENANT = asTenantId('7b7f4c1e-0f5e-4c6e-9c3e-0d5f8a6b1c2d');
const ALL = new Set<RecordType>(recordTypes);

const event = (type: string, data: unknown): RecordedEvent =>
  ({
    type,
    data,
    tenantId: TENANT,
    id: randomUUID(),
    stream: `any-${TENANT}.subject`,
    revision: 0n,
    position: 7n,
    recordedAt: Date.parse('2026-11-23T10:00:00Z'),
    metadata: { actor: { kind: 'admin', id: 'an-admin', ip: '198.51.100.7' }, correlationId: 'a-request' },
    stored: { version: 1, data },
  }) as unknown as RecordedEvent;

const observation = (kind: string, rest: object) => ({
  eventId: randomUUID(),
  occurredAt: '2026-11-23T09:59:00.000Z',
  domain: 'a.example',
  url: 'https://a.example/',
  kind,
  ...rest,
});

/** Names under which secrets, or digests and references of them, are kept. */
const SECRET = /(?:password|secret|token|hash|digest|ref|apikey|privatekey)s?$/i;
/** The digest of a published file. */
const HARMLESS = new Set(['SignaturePackBegun.digest']);

const namesIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [
        ...(Array.isArray(value) || typeof inner === 'boolean' || typeof inner === 'number' ? [] : [name]),
        ...namesIn(inner),
      ]);

describe('records of events', () => {
  const folder = new URL('../../fixtures/events/', import.meta.url);
  const fixtures = readdirSync(folder);
  const definitions = families.flatMap((family) => Object.entries(family.definitions) as [string, EventDefinition][]);

  it('exist for every audited event and hold no secret', () => {
    const leaked = new Set<string>();
    for (const [type, { version, audit }] of definitions) {
      const name = `${type}.v${version}.json`;
      if (audit === false || !fixtures.includes(name)) continue;
      const records = recordsOf(event(type, JSON.parse(readFileSync(new URL(name, folder), 'utf8'))), ALL);
      expect([type, records.some((record) => record.type === 'audit')]).toEqual([type, true]);
      for (const record of records)
        for (const found of namesIn(record.data))
          if (SECRET.test(found) && !HARMLESS.has(`${type}.${found}`)) leaked.add(`${type}.${found}`);
    }
    expect([...leaked]).toEqual([]);
  });

  it('are what a destination selects', () => {
    const raised = event('AlertRaised', { alertId: 'a', severity: 'high', title: 'T', fingerprint: 'f' });
    expect(recordsOf(raised, ALL).map(({ type, severity }) => [type, severity])).toEqual([
      ['audit', 'high'],
      ['alert', 'high'],
    ]);
    expect(recordsOf(raised, new Set<RecordType>(['navigation']))).toEqual([]);
    expect([...wantedEvents(['verification'])].every((type) => type.startsWith('Verification'))).toBe(true);
    expect(eventSources.get('TelemetryRefused')).toBeUndefined();
  });

  it('say who did what to which resource', () => {
    const [audit] = recordsOf(
      event('VerificationFailed', { userId: 'ann', method: 'otp' }),
      new Set<RecordType>(['audit']),
    );
    expect(audit!.data).toEqual({
      action: 'verification.failed',
      actorType: 'admin',
      actorId: 'an-admin',
      resourceType: 'employee',
      resourceId: 'ann',
      ipAddress: '198.51.100.7',
      userAgent: null,
      correlationId: 'a-request',
      details: { userId: 'ann', method: 'otp' },
    });
  });

  it('of a telemetry batch are its observations, without digests of passwords', () => {
    const batch = event('TelemetryRecorded', {
      deviceId: 'd',
      userId: 'u',
      observations: [
        observation('navigation', { title: 'A' }),
        observation('credential_attempt', { username: 'ann', passwordHash: 'digest', isBreached: true }),
        observation('policy_decision', { signals: [] }),
      ],
    });
    const records = recordsOf(batch, ALL);
    expect(records.map(({ type, severity, timestamp }) => [type, severity, timestamp])).toEqual([
      ['navigation', 'info', '2026-11-23T09:59:00.000Z'],
      ['credential_attempt', 'high', '2026-11-23T09:59:00.000Z'],
    ]);
    expect(records[1]!.data).toEqual({
      action: 'credential_attempt',
      deviceId: 'd',
      userId: 'u',
      domain: 'a.example',
      url: 'https://a.example/',
      username: 'ann',
      isBreached: true,
    });
  });

  it('lack the values of erased people', () => {
    const [record] = recordsOf(
      event('AlertRaised', {
        alertId: 'a',
        severity: 'low',
        title: ERASED,
        metadata: { who: ERASED, list: [ERASED, 'x'] },
      }),
      new Set<RecordType>(['alert']),
    );
    expect(record!.data).toEqual({ action: 'alert.raised', alertId: 'a', severity: 'low', metadata: { list: ['x'] } });
  });
});
