import { alertEvents } from '../alerts/domain/events.ts';
import { auditVocabulary, type AuditTerms } from '../audit/domain/vocabulary.ts';
import type { GuardedFields } from '../../platform/kernel/guarded-fields.ts';
import type { Observation } from '../telemetry/domain/observation.ts';
import { verificationEvents } from '../verification/domain/events.ts';
import { families } from '../families.ts';
import type { RecordType } from './domain/vocabulary.ts';

/** Record types of one kind of event. */
export interface EventSource {
  /** Types of the records that the event itself becomes. */
  readonly becomes: readonly RecordType[];
  readonly terms: AuditTerms | undefined;
  /** Fields that only their own resource shows. */
  readonly concealed: readonly string[];
  readonly guarded?: GuardedFields | undefined;
  /** The event is a batch: its observations become records. */
  readonly isBatch: boolean;
}

/** Which observations are forwarded. The others raise alerts or belong to inventories. */
export const observationRecords: Readonly<Record<Observation['kind'], RecordType | null>> = {
  navigation: 'navigation',
  credential_attempt: 'credential_attempt',
  auth_flow: 'auth_flow',
  extension_event: 'extension_event',
  extension_inventory: null,
  policy_decision: null,
  clickfix_detected: null,
  canary_cookie_triggered: null,
  screenshot: null,
  wipe_completed: null,
};

const OBSERVED = [...new Set(Object.values(observationRecords))].filter((type) => type !== null);

/**
 * Every event that can be forwarded, by type: one event may become an audit record and one of its subject. An event
 * that is not here is never forwarded.
 */
export const eventSources: ReadonlyMap<string, EventSource> = (() => {
  const vocabulary = auditVocabulary(families);
  const table = new Map<string, EventSource>();
  for (const { definitions } of families) {
    for (const [type, { audit, concealed = [], guarded }] of Object.entries(definitions)) {
      if (audit === false) continue;
      const becomes: RecordType[] = ['audit'];
      if (type in alertEvents.definitions) becomes.push('alert');
      if (type in verificationEvents.definitions) becomes.push('verification');
      table.set(type, { becomes, terms: vocabulary.get(type), concealed, guarded, isBatch: false });
    }
  }
  table.set('TelemetryRecorded', { becomes: OBSERVED, terms: undefined, concealed: [], isBatch: true });
  return table;
})();

/** Types of the events that become records of these types. */
export const wantedEvents = (types: readonly RecordType[]): ReadonlySet<string> =>
  new Set(
    [...eventSources].filter(([, { becomes }]) => becomes.some((type) => types.includes(type))).map(([type]) => type),
  );
