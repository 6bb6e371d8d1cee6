import type { EventFamily } from '../../../platform/kernel/event.ts';

/** The names that the audit log uses for one event type. */
export interface AuditTerms {
  readonly action: string;
  readonly resourceType: string;
  /** The event field that holds the resource's id; undefined if the stream identifies the resource. */
  readonly idField: string | undefined;
}

/** The terms of every audited event type, by type. Types without a family and telemetry are missing. */
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
