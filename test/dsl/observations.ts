import { randomUUID } from 'node:crypto';
import { NOW } from './given.ts';
import type { Observation, ObservationOf } from '../../src/contexts/telemetry/domain/observation.ts';

export const DEVICE = '44444444-4444-4444-8444-444444444444';
export const USER = '55555555-5555-4555-8555-555555555555';
export const DAY = '2026-06-01';

/** 64 hex digits that stand for one password. */
export const hashOf = (password: string): string => Buffer.from(password.padEnd(32, '.')).toString('hex').slice(0, 64);

/** A login as an extension reports it. */
export const reportedLogin = (over: Record<string, unknown> = {}, data: Record<string, unknown> = {}) => ({
  eventId: randomUUID(),
  kind: 'credential_attempt',
  occurredAt: new Date(NOW).toISOString(),
  domain: 'shop.example',
  url: 'https://shop.example/login',
  data: {
    username: 'kim',
    passwordHash: hashOf('one'),
    isBreached: false,
    action: 'allow',
    userDecision: 'none',
    ...data,
  },
  ...over,
});

/** A login as the log keeps it. */
export const login = (
  over: Partial<ObservationOf<'credential_attempt'>> = {},
): ObservationOf<'credential_attempt'> => ({
  kind: 'credential_attempt',
  eventId: randomUUID(),
  occurredAt: new Date(NOW).toISOString(),
  domain: 'shop.example',
  url: 'https://shop.example/login',
  username: 'kim',
  passwordHash: hashOf('one'),
  isBreached: false,
  action: 'allow',
  userDecision: 'none',
  policyId: null,
  ...over,
});

export const telemetry = (observations: readonly Observation[], over: { userId?: string; deviceId?: string } = {}) => ({
  type: 'TelemetryRecorded' as const,
  data: {
    deviceId: DEVICE,
    userId: USER,
    deviceSequence: null,
    extensionMode: 'learning',
    policyVersion: 'abc',
    observations: [...observations],
    ...over,
  },
});
