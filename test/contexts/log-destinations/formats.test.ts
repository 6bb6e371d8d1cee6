import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { logFormats, type LogFormat } from '../../../src/contexts/log-destinations/domain/vocabulary.ts';
import { lineFormat, syslogFormat } from '../../../src/contexts/log-destinations/formats/formats.ts';
import type { LogRecord } from '../../../src/contexts/log-destinations/formats/log-record.ts';
import { version } from '../../../src/platform/version.ts';

const TENANT = '7b7f4c1e-0f5e-4c6e-9c3e-0d5f8a6b1c2d';
const ID = '0198a000-0000-7000-8000-00000000000';
const TIME = '2026-11-23T10:11:12.345Z';
const HOSTILE = 'a|b=c\\d "e" ]f\r\n<13>1 - forged\tCEF:0|x\u0000\u0085\u2028 é 𝄞';

const record = (at: number, type: LogRecord['type'], severity: LogRecord['severity'], data: LogRecord['data']) => ({
  timestamp: TIME,
  tenantId: TENANT,
  type,
  id: `${ID}${at}`,
  severity,
  data,
});

/** One of each type, and one with everything that a format must escape. */
const records: readonly LogRecord[] = [
  record(1, 'alert', 'critical', {
    action: 'alert.raised',
    alertId: `${ID}9`,
    alertType: 'phishing_detected',
    title: 'Phishing',
    description: 'A page',
    userId: `${ID}8`,
    deviceId: null,
    domain: 'evil.example',
    metadata: { signals: ['a', 'b'], score: 7 },
  }),
  record(2, 'audit', 'info', {
    action: 'admin_user.created',
    actorType: 'admin',
    actorId: `${ID}7`,
    resourceType: 'tenant',
    resourceId: TENANT,
    ipAddress: '198.51.100.7',
    userAgent: 'curl/8',
    details: { roles: [{ name: 'admin' }], isNew: true },
  }),
  record(3, 'navigation', 'info', {
    action: 'navigation',
    userId: `${ID}8`,
    domain: 'a.example',
    url: 'https://a.example/x?y=1',
  }),
  record(4, 'credential_attempt', 'high', {
    action: 'credential_attempt',
    userId: `${ID}8`,
    domain: 'a.example',
    username: 'ann',
  }),
  record(5, 'auth_flow', 'info', {
    action: 'auth_flow',
    userId: `${ID}8`,
    domain: 'idp.example',
    method: 'oidc',
    outcome: 'success',
  }),
  record(6, 'extension_event', 'info', {
    action: 'extension_event',
    deviceId: `${ID}6`,
    extensionId: 'abc',
    change: 'installed',
    name: 'Tool',
  }),
  record(7, 'verification', 'info', { action: 'verification.failed', userId: `${ID}8`, method: 'otp' }),
  record(8, 'audit', 'low', {
    action: 'hostile',
    [HOSTILE]: HOSTILE,
    title: HOSTILE,
    url: HOSTILE,
    long: 'x'.repeat(3_000),
  }),
];

const golden = (format: LogFormat) => new URL(`../../fixtures/log-formats/${format}.txt`, import.meta.url);
/** Not the version of the service. */
const plain = (line: string) => line.replaceAll(version, 'VERSION');

describe.each(logFormats)('the format %s', (format) => {
  const lines = records.map((one) => lineFormat(format)(one));

  it('is as it was', () => {
    const text = `${lines.map(plain).join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN']) writeFileSync(golden(format), text);
    expect(text).toBe(readFileSync(golden(format), 'utf8'));
  });

  it('is one line, whatever a value holds', () => {
    for (const line of [...lines, ...records.map((one) => syslogFormat(format, 'audit')(one))])
      // eslint-disable-next-line no-control-regex
      expect(line).not.toMatch(/[\u0000-\u0008\u000a-\u001f]/);
  });
});

describe('formats that hold JSON', () => {
  it.each(['json', 'ocsf'] as const)('%s gives every value back', (format) => {
    const [hostile] = records.slice(-1);
    const parsed = JSON.parse(lineFormat(format)(hostile!)) as { data?: unknown; unmapped?: unknown };
    expect(parsed.data ?? parsed.unmapped).toEqual(hostile!.data);
  });

  it('ocsf has the identifiers that every class requires', () => {
    for (const one of records) {
      const event = JSON.parse(lineFormat('ocsf')(one)) as Record<string, number>;
      expect(event['type_uid']).toBe(event['class_uid']! * 100 + event['activity_id']!);
      expect(event['category_uid']).toBe(Math.floor(event['class_uid']! / 1_000));
      expect([event['time'], event['severity_id']]).toEqual([Date.parse(TIME), expect.any(Number)]);
    }
  });
});

/** Readers by the published grammars, written for this test alone. */
describe('escaping', () => {
  const [hostile] = records.slice(-1);

  it('cef: a reader of header and extension finds the values', () => {
    const line = lineFormat('cef')(hostile!);
    const header = line.split(/(?<!\\)\|/);
    expect(header.slice(0, 3)).toEqual(['CEF:0', 'Castellan', 'Castellan']);
    const extension = line.slice(line.indexOf('rt='));
    const pairs = [...extension.matchAll(/([A-Za-z0-9]+)=((?:\\.|[^\\=])*)(?= [A-Za-z0-9]+=|$)/g)].map(
      ([, key, value]) => [key, value!.replaceAll(/\\([\\=nr])/g, (_, c: string) => ({ n: '\n', r: '\r' })[c] ?? c)],
    );
    const found = Object.fromEntries(pairs) as Record<string, string>;
    expect(found['externalId']).toBe(`${ID}8`);
    expect(found['msg']).toBe('a|b=c\\d "e" ]f\r\n<13>1 - forged CEF:0|x  é 𝄞');
  });

  it('leef: tabs alone separate attributes', () => {
    const [, attributes] = lineFormat('leef')(hostile!).split('|x09|') as [string, string];
    const found = new Map(attributes.split('\t').map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]));
    expect(found.get('externalId')).toBe(`${ID}8`);
    expect(found.get('title')).toBe('a|b=c\\d "e" ]f <13>1 - forged CEF:0|x  é 𝄞');
  });

  it('rfc5424: structured data ends where it should', () => {
    const line = lineFormat('rfc5424')(hostile!);
    const [, structured, message] =
      /^<133>1 \S+ castellan castellan - audit (\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\]) (.*)$/.exec(line)!;
    expect(message).toBe('hostile');
    expect(structured).toContain(String.raw`url="a|b=c\\d \"e\" \]f <13>1 - forged CEF:0|x  é 𝄞"`);
  });
});
