import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { recordPasswordReuse } from '../../../commands/credentials/record-password-reuse.ts';
import type { Observation } from '../../../src/contexts/telemetry/domain/observation.ts';
import { type Envelope } from '../../../src/platform/kernel/event.ts';
import { whenTelemetryRecordedDetectReuse } from '../../../src/contexts/credentials/reactions/when-telemetry-recorded-detect-reuse.ts';
import { given, NOW, recorded, type EventFor } from '../../dsl/given.ts';
import { DEVICE, hashOf, login, telemetry, USER } from '../../dsl/observations.ts';
import { reactTo } from '../../dsl/reactions.ts';

const HOUR = 3_600_000;
const after = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
const batch = (n: number, ...observations: Observation[]) => recorded(telemetry(observations), n);

describe('detection of reused passwords', () => {
  const found = (...events: EventFor<typeof whenTelemetryRecordedDetectReuse>[]) =>
    reactTo(whenTelemetryRecordedDetectReuse, events).map(({ command, input }) => {
      expect(command).toBe(recordPasswordReuse);
      return input as { domain: string; domains: string[]; reuseId: string };
    });

  it('reports a password on another registrable domain, once per domain', () => {
    const reuses = found(
      batch(1, login(), login({ domain: 'www.shop.example' })),
      batch(2, login({ domain: 'mail.example' }), login({ domain: 'mail.example' })),
      batch(3, login({ domain: 'bank.example' }), login({ domain: 'shop.example' })),
    );
    expect(reuses.map(({ domain, domains }) => [domain, domains])).toEqual([
      ['mail.example', ['shop.example', 'mail.example']],
      ['bank.example', ['shop.example', 'mail.example', 'bank.example']],
    ]);
    expect(new Set(reuses.map(({ reuseId }) => reuseId)).size).toBe(1);
  });

  it('keeps people and passwords apart', () => {
    const other = { userId: '66666666-6666-4666-8666-666666666666' };
    expect(
      found(
        batch(1, login()),
        recorded(telemetry([login({ domain: 'mail.example' })], other), 2),
        batch(3, login({ domain: 'mail.example', passwordHash: hashOf('two') })),
      ),
    ).toEqual([]);
  });

  it('reports 700 at once and the rest when it is entered again, by arrival', () => {
    const onSites = (n: number, over: Partial<Envelope> = {}) => {
      const logins = Array.from({ length: 400 }, (_, at) => [
        login({ passwordHash: hashOf(`${n}-${at}`) }),
        login({ passwordHash: hashOf(`${n}-${at}`), domain: 'mail.example' }),
      ]).flat();
      return recorded(telemetry(logins), n, over);
    };
    expect(found(onSites(1), onSites(2))).toHaveLength(700);
    const again = { ...onSites(2), id: randomUUID(), recordedAt: NOW + 49 * HOUR };
    expect(found(onSites(1), onSites(2), again)).toHaveLength(800);
  });

  it('drops an erased person', () => {
    const erased = recorded({ type: 'EmployeeErased', data: { userId: USER } }, 2);
    expect(found(batch(1, login()), erased, batch(3, login({ domain: 'mail.example' })))).toEqual([]);
  });

  const reuse = {
    reuseId: randomUUID(),
    userId: USER,
    deviceId: DEVICE,
    domain: 'mail.example',
    domains: ['shop.example', 'mail.example'],
    cause: randomUUID(),
    occurredAt: after(0),
    extensionMode: null,
    policyVersion: null,
  };
  it('is recorded once per site', () => {
    given().when(recordPasswordReuse, reuse).then({ type: 'PasswordReuseDetected', data: reuse });
    given({ type: 'PasswordReuseDetected' as const, data: reuse })
      .when(recordPasswordReuse, reuse)
      .thenNothing();
    given({ type: 'PasswordReuseDetected' as const, data: reuse })
      .when(recordPasswordReuse, { ...reuse, domain: 'bank.example', domains: ['shop.example', 'bank.example'] })
      .then({
        type: 'PasswordReuseDetected',
        data: { ...reuse, domain: 'bank.example', domains: ['shop.example', 'mail.example', 'bank.example'] },
      });
  });
});
