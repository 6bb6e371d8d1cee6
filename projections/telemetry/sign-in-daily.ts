import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { bigint, day, defineReadModel, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { day, sign_ins: bigint, with_mfa: bigint };
export type SignInDailyRow = Row<{ columns: typeof columns }>;

/** Successful sign-ins by UTC day, and how many of them asked for a second factor. */
export const signInDaily = defineReadModel({
  name: 'sign_in_daily',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['day'],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => counted(observations),
    AnonymousTelemetryRecorded: ({ data: { observations } }) => counted(observations),
  },
});

const counted = (observations: readonly Observation[]) =>
  observations
    .filter((observation) => observation.kind === 'auth_flow')
    .filter(({ outcome }) => outcome === 'success')
    .map(({ occurredAt, mfaObserved }) => {
      const on = occurredAt.slice(0, 10);
      return {
        key: { day: on },
        fold: (row: SignInDailyRow | undefined) => ({
          day: on,
          sign_ins: (row?.sign_ins ?? 0) + 1,
          with_mfa: (row?.with_mfa ?? 0) + (mfaObserved ? 1 : 0),
        }),
      };
    });
