import { byHost, earlier, later, span } from '../../src/contexts/discovery/domain/sightings.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { ObservationOf } from '../../src/contexts/telemetry/domain/observation.ts';
import { hostName } from '../../src/platform/web-addresses/page-address.ts';
import { bigint, defineReadModel, id, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  domain: text,
  relying_party: text,
  user_id: id,
  sign_ins: bigint,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
};
export type RelyingPartyRow = Row<{ columns: typeof columns }>;

type AuthFlow = ObservationOf<'auth_flow'>;

/** The people who signed in to a relying party through a host. */
export const relyingParties = defineReadModel({
  name: 'relying_parties',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['domain', 'relying_party', 'user_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      byHost(observations).flatMap(({ domain, observations: there }) => {
        const parties = new Map<string, AuthFlow[]>();
        for (const one of there) {
          const party = one.kind === 'auth_flow' ? partyOf(one) : '';
          if (party !== '') parties.set(party, [...(parties.get(party) ?? []), one as AuthFlow]);
        }
        return [...parties].map(([party, flows]) => ({
          key: { domain, relying_party: party, user_id: userId },
          fold: (row: RelyingPartyRow | undefined) =>
            used(row, { domain, relying_party: party, user_id: userId }, flows),
        }));
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

/** Usually a host; otherwise the provider's name for it. */
const partyOf = ({ relyingParty }: AuthFlow): string => hostName(relyingParty ?? '') ?? relyingParty?.trim() ?? '';

function used(
  row: RelyingPartyRow | undefined,
  key: Pick<RelyingPartyRow, 'domain' | 'relying_party' | 'user_id'>,
  flows: readonly AuthFlow[],
): RelyingPartyRow {
  const { firstSeenAt, lastSeenAt } = span(flows);
  return {
    ...key,
    sign_ins: (row?.sign_ins ?? 0) + flows.length,
    first_seen_at: earlier(row?.first_seen_at ?? firstSeenAt, firstSeenAt),
    last_seen_at: later(row?.last_seen_at ?? lastSeenAt, lastSeenAt),
  };
}
