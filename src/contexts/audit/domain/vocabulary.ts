import type { EventFamily } from '../../../platform/kernel/event.ts';

/** How the audit log speaks of one event type. */
export interface AuditTerms {
  readonly action: string;
  readonly resourceType: string;
  /** The field of the event that names the resource; undefined: the stream does. */
  readonly idField: string | undefined;
}

/** The words for every event type that the audit log tells of, by type. Types that stand in no family, or that are telemetry, are not here. */
export function auditVocabulary(families: readonly EventFamily[]): ReadonlyMap<string, AuditTerms> {
  const words = new Map<string, AuditTerms>();
  for (const { category, definitions } of families) {
    for (const [type, { audit, about }] of Object.entries(definitions)) {
      if (audit === false) continue;
      words.set(type, { action: audit, resourceType: about?.resource ?? category, idField: about?.id });
    }
  }
  return words;
}
